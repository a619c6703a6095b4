import {
  AssertionError,
  EngramError,
  type ErrorCode,
  isEngramError,
  keyBytes,
  keyText,
  type KvEvent,
  leaseId,
  type LeaseId,
  logPosition,
  type LogPosition,
  revision,
  type Txn,
} from '@engram/core';
import { KeyIndex } from '@engram/index';
import { finish, type Job, type PureJob, StepPace, type Turn } from '@engram/loop';
import { type Changes, isSimple, type PlannedOp, type PlannedTxn, type DecidedTxn, Sequencer } from '@engram/sequencer';
import { parseTxn } from '@engram/sim';
import { textEncoder, Values } from './values.ts';

interface Plan {
  readonly keys: readonly string[];
  readonly pinned: number;
}

interface Decided {
  readonly planned?: PlannedTxn<Plan>;
  readonly changes: Changes;
}

/** How simple transactions are decided. Both ways must tell the same. */
export type SimpleWay = 'in a call' | 'by a job';

const OK: readonly string[] = [];

/** Leases, with the keys that puts under way attach. */
class Leases {
  readonly ids = new Set<LeaseId>();
  readonly attached: string[] = [];

  has(id: LeaseId): boolean {
    return this.ids.has(id);
  }

  attach(id: LeaseId, key: Uint8Array): void {
    this.attached.push(`${id}:${keyText(key)}`);
  }

  detach(id: LeaseId, key: Uint8Array): void {
    const at = this.attached.lastIndexOf(`${id}:${keyText(key)}`);
    if (at < 0) throw new Error('detached a key that is not attached');
    this.attached.splice(at, 1);
  }
}

/** Slices of so many steps, as `StepPace`, without end at first. Each resumed job begins one. */
class Slices implements Turn {
  #pace: StepPace | undefined;

  set steps(steps: number) {
    this.#pace = new StepPace(steps);
  }

  begin(): void {
    this.#pace?.begin();
  }

  shouldYield(steps?: number): boolean {
    return this.#pace?.shouldYield(steps) ?? false;
  }
}

/** Runs the commands of a transcript on a sequencer: testdata/README.md lists them. */
export class Interpreter {
  #index = new KeyIndex();
  #leases = new Leases();
  #values = new Values();
  #slices = new Slices();
  #compactRevision = revision(-1);
  #sequencer = this.#open(new Map());
  /** The decision under way. */
  #job: Job<Decided> | undefined;
  /** Writes that are decided and not undone, oldest first. */
  #writes: (readonly KvEvent[])[] = [];
  readonly #simpleWay: SimpleWay;

  readonly #commands: Readonly<Record<string, (rest: string) => readonly string[]>> = {
    store: (rest) => this.#store(rest),
    lease: (id) => {
      this.#leases.ids.add(leaseId(BigInt(id)));
      return OK;
    },
    compacted: (at) => {
      this.#compactRevision = revision(Number(at));
      return OK;
    },
    slice: (steps) => {
      this.#slices.steps = Number(steps);
      return OK;
    },
    cold: (positions) => {
      for (const position of positions.split(' ')) this.#values.cool(logPosition(Number(position)));
      return OK;
    },
    txn: (text) => [...this.#begin(this.#decide(text)), ...this.#toEnd()],
    begin: (text) => this.#begin(this.#decide(text)),
    step: () => this.#step((job) => job.next()),
    finish: () => this.#toEnd(),
    'give-up': (code) => this.#step((job) => job.throw(new EngramError(code as ErrorCode))),
    break: () => this.#step((job) => job.throw(new Error('no EngramError'))),
    needs: (text) => [`needs ${this.#sequencer.needs(parseTxn(text)).join(' ') || 'nothing'}`],
    position: () => asserting(() => [`position ${this.#sequencer.assignPosition()}`]),
    'end-lease': (rest) => {
      const [id, ...keys] = rest.split(' ');
      const mark = keyBytes(`end lease ${id}`);
      return this.#begin(this.#endLease(mark, keys, leaseId(BigInt(id!))));
    },
    undo: (which) => this.#undo(which === 'oldest' ? 0 : this.#writes.length - 1),
    state: () => this.#state(),
  };

  constructor(simpleWay: SimpleWay) {
    this.#simpleWay = simpleWay;
  }

  run(line: string): readonly string[] {
    const [name, ...rest] = line.split(' ');
    const command = this.#commands[name ?? ''];
    if (command === undefined) throw new Error(`no command ${name}`);
    return command(rest.join(' '));
  }

  #store(rest: string): readonly string[] {
    this.#index = new KeyIndex();
    this.#leases = new Leases();
    this.#values = new Values();
    this.#slices = new Slices();
    this.#compactRevision = revision(-1);
    this.#writes = [];
    this.#job = undefined;
    const pairs = rest === '' ? [] : rest.split(' ').map((word) => word.split('='));
    this.#sequencer = this.#open(new Map(pairs.map(([name, value]) => [name!, Number(value)])));
    return OK;
  }

  #open(limits: ReadonlyMap<string, number>): Sequencer<Plan> {
    const { changes = 1000, answer = 1_000_000 } = Object.fromEntries(limits);
    const index = this.#index;
    return new Sequencer<Plan>({
      versions: index,
      leases: this.#leases,
      encoder: textEncoder,
      ranges: {
        *plan({ range }, at, pinned, room, turn) {
          const keys: string[] = [];
          for (let key: Uint8Array | undefined = range.key; key !== undefined; ) {
            const live: number[] = [];
            key = index.collectSome({ key, end: range.end }, at, 2, turn, live);
            for (const version of live) {
              keys.push(keyText(index.key(version)));
              room.take(index.bytes(version));
            }
            if (turn.shouldYield(0)) yield;
          }
          return { keys, pinned };
        },
      },
      turn: this.#slices,
      revision: revision(1),
      next: logPosition(1),
      changesMax: changes,
      answerBytesMax: answer,
      pending: {
        added: ({ type, position, kv }) => {
          if (type === 0) this.#values.add(position, keyBytes(keyText(kv).split(/[ ,]/)[2]!));
        },
        undone: () => {},
      },
    });
  }

  #decide(text: string): Job<Decided> {
    const txn = parseTxn(text);
    return isSimple(txn) ? this.#decideSimple(txn) : this.#sequencer.decide(txn, this.#compactRevision, this.#values);
  }

  /** Never gives way. */
  // biome-ignore lint/correctness/useYield: a job, as the others, that ends at once
  *#decideSimple(txn: Txn): PureJob<Decided> {
    if (this.#simpleWay === 'in a call') {
      return this.#sequencer.decideSimple(txn, this.#compactRevision, this.#values);
    }
    const job = this.#sequencer.decide(txn, this.#compactRevision, this.#values);
    for (;;) {
      const step = job.next();
      if (step.done === true) return step.value;
    }
  }

  *#endLease(mark: Uint8Array, keys: readonly string[], id: LeaseId): PureJob<Decided> {
    return { changes: yield* this.#sequencer.endLease(mark, keys, id) };
  }

  #begin(job: Job<Decided>): readonly string[] {
    const before = this.#job;
    this.#job = job;
    const told = this.#step((begun) => begun.next());
    this.#job ??= before;
    return told;
  }

  #toEnd(): readonly string[] {
    const told: string[] = [];
    while (this.#job !== undefined) told.push(...this.#step((job) => job.next()));
    return told;
  }

  #step(advance: (job: Job<Decided>) => IteratorResult<Promise<unknown> | undefined, Decided>): readonly string[] {
    const job = this.#job!;
    this.#slices.begin();
    this.#values.arrive();
    try {
      const step = advance(job);
      if (step.done !== true) return [step.value === undefined ? 'gives way' : `waits for ${this.#values.waitsFor}`];
      this.#job = undefined;
      this.#writes.push(step.value.changes.events);
      return describe(step.value, this.#sequencer.next);
    } catch (error) {
      this.#job = undefined;
      const broken = this.#sequencer.broken ? ['broken'] : [];
      if (isEngramError(error)) return [`refused: ${error.code}`, ...broken];
      if (error instanceof AssertionError) return [`assertion: ${error.message}`, ...broken];
      if (!this.#sequencer.broken) throw error;
      return [`failed: ${(error as Error).message}`, ...broken];
    }
  }

  #undo(at: number): readonly string[] {
    const [events] = this.#writes.splice(at, 1);
    return asserting(() => {
      finish(this.#sequencer.undo(events!));
      return OK;
    });
  }

  #state(): readonly string[] {
    const keys: string[] = [];
    for (let key: Uint8Array | undefined = keyBytes('\0'); key !== undefined; ) {
      key = this.#index.walk(key, 1000, (found, head) => void keys.push(this.#describeKey(found, head)));
    }
    const { assigned, next } = this.#sequencer;
    const leases = this.#leases.attached.length === 0 ? '' : `, attached ${this.#leases.attached.join(' ')}`;
    return [`revision ${assigned}, next position ${next}${leases}`, ...keys];
  }

  #describeKey(key: Uint8Array, head: number): string {
    const index = this.#index;
    if (index.isTombstone(head)) return `${keyText(key)} deleted in ${index.modRevision(head)}`;
    const lease = index.lease(head) === 0n ? '' : `, lease ${index.lease(head)}`;
    return `${keyText(key)} put in ${index.modRevision(head)}, version ${index.version(head)}${lease}`;
  }
}

function asserting(work: () => readonly string[]): readonly string[] {
  try {
    return work();
  } catch (error) {
    if (error instanceof AssertionError) return [`assertion: ${error.message}`];
    throw error;
  }
}

function describe(decided: Decided | DecidedTxn<Plan>, next: LogPosition): readonly string[] {
  const { planned, changes }: Decided = decided;
  const { records } = changes;
  const first = next - records.length;
  return [
    ...(planned === undefined ? [] : describeTxn(planned)),
    ...records.map((record, at) => `record ${first + at}: ${keyText(record)}`),
  ];
}

function describeTxn({ revision: at, succeeded, responses }: PlannedTxn<Plan>): readonly string[] {
  const inner = responses.flatMap(describeOp).map((line) => `  ${line}`);
  return [`revision ${at}, ${succeeded ? 'then' : 'else'}`, ...inner];
}

function describeOp(op: PlannedOp<Plan>): readonly string[] {
  switch (op.kind) {
    case 'txn':
      return describeTxn(op);
    case 'put':
      return [`put in ${op.revision}${op.prev === undefined ? '' : `, before it ${op.prev}`}`];
    case 'delete-range':
      return [
        `${op.deleted} deleted in ${op.revision}${op.prev.length === 0 ? '' : `, before it ${op.prev.join(' ')}`}`,
      ];
    case 'range':
      return [`range at ${op.revision}, pinned at ${op.plan.pinned}: ${op.plan.keys.join(' ') || 'nothing'}`];
  }
}
