import type { LoggedWrite } from '@engram/sim/model';
import type { Call, Excuses, Judge, Verdict } from '../judge/judge.ts';
import type { Credential } from '../users/credentials.ts';
import type { Need } from '../users/needs.ts';
import { type Asked, isDenial } from '../users/access-judge.ts';
import type { Served } from './served.ts';

/** Whether a request with an unknown outcome may have caused this write. */
export type Explains = (write: LoggedWrite) => boolean;

export interface CallsOptions {
  readonly judge: Judge;
  readonly tell: (text: () => string) => void;
  readonly onFinding: (error: unknown) => void;
  /** The time of the clock that leases are judged by. */
  readonly nowMs: () => number;
  readonly excuses: (call: Call, life: Served, aborted: boolean) => Excuses;
}

export interface Request<Answer> {
  readonly what: string;
  readonly life: Served;
  /** Undefined if the request changes nothing. */
  readonly explains?: Explains;
  /**
   * Lower bound of the state of the answer, as a position of the log. Undefined means everything that any client was
   * told.
   */
  readonly from?: number | undefined;
  /** See `Call`. */
  readonly readsAt?: number;
  /** Who asks. Undefined: clients have no users. */
  readonly credential?: Credential | undefined;
  readonly need?: Need;
  /** The position at which an answered request was decided, if the answer tells it. */
  decidedAt?(answer: Answer, call: Call): number | undefined;
  /** The refusal is that of a caller without the right, or of the request: `refused` judges both. */
  readonly eitherWay?: string;
  /** Called instead of `refused` if the caller has not the right. */
  readonly denied?: () => void;
  /** The client cancels the request after this time. */
  readonly abortAfterMs?: number | undefined;
  send(signal: AbortSignal): Promise<Answer>;
  /** `permitted`: whether the caller may have made a write of the log. */
  answered(call: Call, answer: Answer, permitted: (write: LoggedWrite) => boolean): void;
  /** Called if `verdict` says that the request has had no effect. */
  refused(call: Call, verdict: Exclude<Verdict, 'unknown'>): void;
  /** Called if the outcome of the request is unknown. */
  unknown?(call: Call): void;
  text?(answer: Answer): string;
}

interface UnderWay {
  readonly call: Call;
  readonly life: Served;
  readonly explains: Explains | undefined;
  /** Undefined: rights do not count. */
  readonly asked: Asked | undefined;
  readonly unknown: ((call: Call) => void) | undefined;
}

/**
 * Requests under way, from the client's side. Answers are judged; requests without an answer are kept as writes with an
 * unknown outcome.
 */
export class Calls {
  readonly #options: CallsOptions;
  readonly #underWay = new Set<UnderWay>();
  /**
   * The writes that have ended. What one with an unknown outcome waits for, the node may wait for ever, and also what one waited for that
   * it refused because too many waited.
   */
  readonly #ended: { readonly startMs: number; readonly endMs: number }[] = [];

  constructor(options: CallsOptions) {
    this.#options = options;
  }

  get underWay(): readonly string[] {
    return [...this.#underWay].map(({ call }) => call.what);
  }

  /** Whether a request under way may have caused this write. */
  mayExplain(write: LoggedWrite): boolean {
    for (const { call, explains } of this.#underWay)
      if (call.from <= write.position && explains?.(write) === true) return true;
    return false;
  }

  /** The time at which the first request under way that may have caused this write was sent. */
  sentMs(write: LoggedWrite): number | undefined {
    for (const { call, explains } of this.#underWay) if (explains?.(write) === true) return call.startMs;
    return undefined;
  }

  /** Whether a write has waited for so long, and waited at `sinceMs` or later. */
  hasWaited(ms: number, sinceMs: number): boolean {
    const nowMs = this.#options.nowMs();
    if (this.#ended.some(({ startMs, endMs }) => endMs >= sinceMs && endMs - startMs >= ms)) return true;
    for (const { call, explains } of this.#underWay)
      if (explains !== undefined && nowMs - call.startMs >= ms) return true;
    return false;
  }

  start<Answer>(request: Request<Answer>): void {
    const { judge, tell, nowMs } = this.#options;
    const { life, what, credential, need } = request;
    const { readsAt = Number.POSITIVE_INFINITY } = request;
    const call: Call = { what, from: request.from ?? judge.acknowledged, readsAt, startMs: nowMs() };
    const localFrom = Math.min(life.face?.applied ?? 1, judge.history.next);
    const asked = credential && need && { what, credential, need, localFrom, from: call.from };
    const explains = permittedOnly(request.explains, permits(asked, judge));
    const entry: UnderWay = { call, life, explains, asked, unknown: request.unknown };
    this.#underWay.add(entry);
    tell(() => (credential === undefined ? what : `${what} (${credential.name})`));
    const abort = new AbortController();
    if (request.abortAfterMs !== undefined) life.process.after(request.abortAfterMs, () => abort.abort());
    // A paused process gets the request when it resumes.
    life.process.after(0, () => {
      let answer: Promise<Answer>;
      try {
        answer = request.send(abort.signal);
      } catch (error) {
        answer = Promise.reject(error);
      }
      answer.then(
        (value) => this.#end(entry, () => this.#answered(request, entry, value)),
        (error: unknown) => this.#end(entry, () => this.#failed(request, entry, error, abort.signal.aborted)),
      );
    });
  }

  /** Requests under way at a node that has died have an unknown outcome. */
  died(life: Served): void {
    for (const entry of this.#underWay) {
      if (entry.life !== life) continue;
      this.#underWay.delete(entry);
      this.#forget(entry);
    }
  }

  /** Ends a request. The answer of a dead process is dropped. */
  #end(entry: UnderWay, judge: () => void): void {
    if (!entry.life.process.alive || !this.#underWay.delete(entry)) return;
    const { call, explains } = entry;
    if (explains !== undefined) this.#ended.push({ startMs: call.startMs, endMs: this.#options.nowMs() });
    try {
      judge();
    } catch (error) {
      this.#options.onFinding(error);
    }
  }

  #answered<Answer>(request: Request<Answer>, { call, asked }: UnderWay, answer: Answer): void {
    this.#options.tell(() => `${request.what}: ${request.text?.(answer) ?? 'done'}`);
    const { judge } = this.#options;
    request.answered(call, answer, permits(asked, judge));
    if (asked !== undefined) judge.access.answered(asked, request.decidedAt?.(answer, call));
  }

  #failed<Answer>(request: Request<Answer>, entry: UnderWay, error: unknown, aborted: boolean): void {
    const { judge, tell, excuses: excusesOf } = this.#options;
    const { call, life, asked } = entry;
    tell(() => `${request.what}: ${error instanceof Error ? error.message : String(error)}`);
    const excuses = excusesOf(call, life, aborted);
    const verdict = judge.verdict(call, error, excuses);
    if (verdict === 'TooManyRequests' && entry.explains !== undefined) this.#waits(call);
    if (verdict === 'unknown') this.#forget(entry);
    else if (asked !== undefined && isDenial(verdict) && verdict !== request.eitherWay) {
      const listensSinceMs = life.face?.desk?.sinceMs ?? 0;
      const { nowMs } = life.process.host.scheduler;
      judge.access.refused(asked, verdict, { listensSinceMs, troubled: excuses.leaderless, nowMs });
      request.denied?.();
    } else request.refused(call, verdict);
  }

  #waits({ startMs }: Call): void {
    this.#ended.push({ startMs, endMs: Number.POSITIVE_INFINITY });
  }

  #forget({ call, explains, unknown }: UnderWay): void {
    if (explains !== undefined) this.#waits(call);
    if (explains !== undefined) this.#options.judge.writes.unknown({ ...call, explains });
    unknown?.(call);
  }
}

/** Whether the caller may have made a write of the log. */
function permits(asked: Asked | undefined, judge: Judge): Explains {
  return ({ position }) => asked === undefined || judge.access.mayWrite(asked, position);
}

/** A write that its caller may not make is not explained by the request. */
function permittedOnly(explains: Explains | undefined, permitted: Explains): Explains | undefined {
  return explains && ((write) => explains(write) && permitted(write));
}
