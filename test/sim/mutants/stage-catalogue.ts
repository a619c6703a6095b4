import type { Mutant } from './mutant.ts';

const backend = 'packages/backend/src';
const loop = 'packages/loop/src';

/** Defects of the owner of the event loop's time. */
export const loopMutants: readonly Mutant[] = [
  {
    name: 'settled-job-never-resumed',
    what: 'a job whose promise settles while others wait for their slice never goes on',
    edits: [{ file: `${loop}/loop.ts`, find: '    else this.#park(parked);\n', replace: '' }],
  },
  {
    name: 'class-starves',
    what: 'a class of work has no slice while a more urgent one always has work',
    edits: [
      {
        file: `${loop}/fair-queue.ts`,
        find: 'if (callers.size === 0 || creditMs <= 0) continue;',
        replace: 'if (callers.size === 0 || creditMs < -1e9) continue;',
      },
    ],
    test: { file: 'packages/loop/test/fair-queue.test.ts', why: 'nothing in a run has work without end' },
  },
  {
    name: 'caller-starves',
    what: 'a connection has no slice while another one of its class always has work',
    edits: [
      {
        file: `${loop}/caller-ring.ts`,
        find: 'if (line.creditMs > 0 && line.items.length > 0) {',
        replace: 'if (line.items.length > 0) {',
      },
    ],
    test: { file: 'packages/loop/test/fairness.test.ts', why: 'nothing in a run has work without end' },
  },
  {
    name: 'cancelled-job-goes-on',
    what: 'a job goes on though its caller has given it up',
    edits: [
      {
        file: `${loop}/parked-job.ts`,
        find: 'if (this.#signal?.aborted === true)',
        replace: 'if (this.#signal === null)',
      },
    ],
    test: { file: 'packages/loop/test/loop.test.ts', why: 'what nobody waits for changes no answer' },
  },
  {
    name: 'turn-without-end',
    what: 'a turn of the event loop gives slices until nothing waits any more',
    edits: [{ file: `${loop}/loop.ts`, find: 'if (nowMs >= this.#untilMs) {', replace: 'if (nowMs < 0) {' }],
    test: { file: 'packages/loop/test/loop.test.ts', why: 'no time passes within a turn of a run' },
  },
];

/** Defects of the stages of a write. */
export const stageMutants: readonly Mutant[] = [
  {
    name: 'put-overtakes',
    what: 'a put is decided in its call though an earlier one of its connection waits',
    edits: [
      {
        file: `${backend}/decide/decisions.ts`,
        find: 'return this.#current === undefined && this.#waiting.length === 0;',
        replace: 'return this.#current === undefined;',
      },
    ],
    test: {
      file: 'packages/backend/test/order.test.ts',
      why: 'two requests under way may take effect in either order',
    },
  },
  {
    name: 'answered-during-publication',
    what: 'a write is answered, and the next one takes effect, while some watchers have its events and others not',
    edits: [
      {
        file: `${backend}/replica/durable-path.ts`,
        find: '      if (publishing !== undefined) yield publishing;\n',
        replace: '      void publishing;\n',
      },
    ],
    test: {
      file: 'packages/backend/test/publication.test.ts',
      why: 'few runs have a publication of more than one slice',
    },
  },
  {
    name: 'ready-batch-overtakes',
    what: 'a batch takes effect before one that waits for a superseded version',
    edits: [
      {
        file: `${backend}/replica/durable-path.ts`,
        find: 'for (let batch = this.#queue[0]; batch?.ready === true; batch = this.#queue[0]) {',
        replace:
          'const found = () => this.#queue.find(({ ready }) => ready);\n    for (let batch = found(); batch !== undefined; batch = found()) {',
      },
      {
        file: `${backend}/replica/durable-path.ts`,
        find: 'this.#queue.shift();',
        replace: 'this.#queue.splice(this.#queue.indexOf(batch), 1);',
      },
    ],
  },
  {
    name: 'late-batch-never-applied',
    what: 'a batch that has waited for a superseded version never takes effect',
    edits: [
      {
        file: `${backend}/replica/durable-path.ts`,
        find: '    void this.#options.loop.run(APPLY, this.#preparing(batch));\n',
        replace:
          '    void this.#options.loop.run(APPLY, this.#preparing(batch));\n    if (!batch.ready) Object.assign(batch, { late: true });\n',
      },
      {
        file: `${backend}/replica/durable-path.ts`,
        find: 'if (!this.#busy) yield* this.#advance();',
        replace: "if (!this.#busy && !('late' in batch)) yield* this.#advance();",
      },
    ],
  },
  {
    name: 'replay-applies-no-marks',
    what: 'a start leaves out the leases, alarms and compactions of the log: a stage is left out there',
    edits: [
      {
        file: `${backend}/replica/recovery.ts`,
        find: 'yield* applier.apply(yield* decodeBatch(batch, state.index, true, loop), endOf(batch));',
        replace:
          'const writes = yield* decodeBatch(batch, state.index, true, loop);\n    yield* applier.apply(writes.filter(({ mark }) => mark === undefined), endOf(batch));',
      },
    ],
  },
  {
    name: 'lease-keys-moved-in-one-go',
    what: 'a write of very many keys moves all of them between leases in one slice',
    edits: [
      {
        file: `${backend}/apply/applier.ts`,
        find: 'if (this.#turn.shouldYield() && alone) yield;',
        replace: 'void alone;',
      },
    ],
    test: { file: 'packages/backend/test/moved-keys.test.ts', why: 'a long slice changes no answer' },
  },
  {
    name: 'lease-keys-attached-in-one-go',
    what: 'a start attaches the keys of all leases in one slice',
    edits: [
      {
        file: `${backend}/apply/replicated-state.ts`,
        find: '      if (turn.shouldYield(0)) yield;\n',
        replace: '',
      },
      {
        file: `${backend}/apply/replicated-state.ts`,
        find: 'this.index.walk(next, Number.POSITIVE_INFINITY, attach, turn);',
        replace: 'this.index.walk(next, Number.POSITIVE_INFINITY, attach, { shouldYield: () => turn === undefined });',
      },
    ],
    test: { file: 'packages/backend/test/recovery-turns.test.ts', why: 'a long slice changes no answer' },
  },
  {
    name: 'image-garbage-in-one-go',
    what: 'the pieces of all replaced images are looked at in one slice',
    edits: [
      {
        file: 'packages/storage-tikv/src/image/image-garbage.ts',
        find: '      if (loop.shouldYield()) yield;\n',
        replace: '',
      },
    ],
    test: { file: 'packages/storage-tikv/test/image-garbage.test.ts', why: 'a long slice changes no answer' },
  },
  {
    name: 'ended-stream-is-watched',
    what: 'a stream whose client wants a leader is looked after when it has ended',
    edits: [
      {
        file: 'packages/etcd-api/src/leader-requirement.ts',
        find: 'if (this.#streams.delete(call) && this.#streams.size === 0) this.#rest();',
        replace: 'if (call === undefined) this.#rest();',
      },
    ],
    test: { file: 'packages/etcd-api/test/leader-requirement.test.ts', why: 'what is kept too long changes no answer' },
  },
];

/** Of the stages, those that only a member that follows shows. */
export const followedStageMutants: readonly Mutant[] = [
  {
    name: 'follower-applies-no-marks',
    what: 'a follower leaves out leases, alarms and compactions: a stage is left out there',
    edits: [
      {
        file: `${backend}/apply/applier.ts`,
        find: '      state.apply(write);\n',
        replace:
          "      state.apply('told' in write || state.attached === false ? write : { ...write, mark: undefined });\n",
      },
    ],
  },
];
