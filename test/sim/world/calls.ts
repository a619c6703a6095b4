import type { LoggedWrite } from '@engram/sim/model';
import type { Call, Excuses, Judge, Verdict } from '../judge/judge.ts';
import type { Served } from './served.ts';

/** What a request may have left in the log when nobody knows what became of it. */
export type Explains = (write: LoggedWrite) => boolean;

export interface CallsOptions {
  readonly judge: Judge;
  readonly tell: (text: () => string) => void;
  readonly onFinding: (error: unknown) => void;
  /** Of the clock that leases are judged by. */
  readonly nowMs: () => number;
  readonly excuses: (call: Call, life: Served, aborted: boolean) => Excuses;
}

export interface Request<Answer> {
  readonly what: string;
  readonly life: Served;
  /** Undefined: it changes nothing. */
  readonly explains?: Explains;
  /** What it may be answered from at least, as a position of the log; undefined: all that anybody was told of. */
  readonly from?: number | undefined;
  /** The client gives it up after so long. */
  readonly abortAfterMs?: number | undefined;
  send(signal: AbortSignal): Promise<Answer>;
  answered(call: Call, answer: Answer): void;
  /** `verdict` says that nothing has happened. */
  refused(call: Call, verdict: Exclude<Verdict, 'unknown'>): void;
  /** Nobody knows, or the answer came after its client had gone. */
  unknown?(call: Call): void;
  text?(answer: Answer): string;
}

interface UnderWay {
  readonly call: Call;
  readonly life: Served;
  readonly explains: Explains | undefined;
  readonly unknown: ((call: Call) => void) | undefined;
}

/** Requests under way, from the client's side: what comes back is judged, and what never does is remembered. */
export class Calls {
  readonly #options: CallsOptions;
  readonly #underWay = new Set<UnderWay>();

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get underWay(): readonly string[] {
    return [...this.#underWay].map(({ call }) => call.what);
  }

  /** Whether something that was asked for and not answered yet may have left this. */
  mayExplain(write: LoggedWrite): boolean {
    for (const { call, explains } of this.#underWay)
      if (call.from <= write.position && explains?.(write) === true) return true;
    return false;
  }

  /** When the first request under way that may have left this was sent. */
  sentMs(write: LoggedWrite): number | undefined {
    for (const { call, explains } of this.#underWay) if (explains?.(write) === true) return call.startMs;
    return undefined;
  }

  start<Answer>(request: Request<Answer>): void {
    const { judge, tell, nowMs } = this.#options;
    const { life, what, explains } = request;
    const call: Call = { what, from: request.from ?? judge.acknowledged, startMs: nowMs() };
    const entry: UnderWay = { call, life, explains, unknown: request.unknown };
    this.#underWay.add(entry);
    tell(() => what);
    const abort = new AbortController();
    if (request.abortAfterMs !== undefined) life.process.after(request.abortAfterMs, () => abort.abort());
    // A process that is stopped gets it when it goes on.
    life.process.after(0, () => {
      let answer: Promise<Answer>;
      try {
        answer = request.send(abort.signal);
      } catch (error) {
        answer = Promise.reject(error);
      }
      answer.then(
        (value) => this.#end(entry, () => this.#answered(request, call, value)),
        (error: unknown) => this.#end(entry, () => this.#failed(request, entry, error, abort.signal.aborted)),
      );
    });
  }

  /** What a node that has died had under way nobody will ever know. */
  died(life: Served): void {
    for (const entry of this.#underWay) {
      if (entry.life !== life) continue;
      this.#underWay.delete(entry);
      this.#forget(entry);
    }
  }

  /** The answer of a process that is dead reaches nobody. */
  #end(entry: UnderWay, judge: () => void): void {
    if (!entry.life.process.alive || !this.#underWay.delete(entry)) return;
    try {
      judge();
    } catch (error) {
      this.#options.onFinding(error);
    }
  }

  #answered<Answer>(request: Request<Answer>, call: Call, answer: Answer): void {
    this.#options.tell(() => `${request.what}: ${request.text?.(answer) ?? 'done'}`);
    request.answered(call, answer);
  }

  #failed<Answer>(request: Request<Answer>, entry: UnderWay, error: unknown, aborted: boolean): void {
    const { judge, tell, excuses } = this.#options;
    const { call, life } = entry;
    tell(() => `${request.what}: ${error instanceof Error ? error.message : String(error)}`);
    const verdict = judge.verdict(call, error, excuses(call, life, aborted));
    if (verdict === 'unknown') this.#forget(entry);
    else request.refused(call, verdict);
  }

  #forget({ call, explains, unknown }: UnderWay): void {
    if (explains !== undefined) this.#options.judge.writes.unknown({ ...call, explains });
    unknown?.(call);
  }
}
