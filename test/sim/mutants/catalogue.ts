import { diskMutants } from './disk-catalogue.ts';
import type { Mutant } from './mutant.ts';
import { past } from './past-catalogue.ts';
import { loopMutants, stageMutants } from './stage-catalogue.ts';
import { usersMutants } from './users-catalogue.ts';

const backend = 'packages/backend/src';

/** Defects that it might have. */
const possible: readonly Mutant[] = [
  {
    name: 'answer-before-durable',
    what: 'writes are answered when their batch leaves for the log',
    edits: [
      {
        file: `${backend}/write/write-path.ts`,
        find: '    this.#options.replica.prefetch(writes);\n',
        replace: '    this.#options.replica.prefetch(writes);\n    for (const write of writes) write.answer(nowMs);\n',
      },
      {
        file: `${backend}/decide/write.ts`,
        find: '    assert(this.#stage === from, ',
        replace: '    assert(this.#stage === from || true, ',
      },
    ],
  },
  {
    name: 'answer-before-publish',
    what: 'writes are answered before watchers hear of them',
    edits: [
      {
        file: `${backend}/publish/publisher.ts`,
        find: '    return groups.length === 0 ? undefined : hub.publish({ groups, revision: state.revision });\n',
        replace:
          '    const { revision } = state;\n    const { loop } = this.#options;\n    if (groups.length > 0) loop.later(PREFETCH, () => void hub.publish({ groups, revision }));\n    return undefined;\n',
      },
    ],
  },
  {
    name: 'waiting-decisions-turned-round',
    what: 'of two puts of one connection that wait for a long write, the later one is decided first',
    edits: [
      {
        file: `${backend}/decide/decisions.ts`,
        find: '    this.#waiting.push({ write, bytes });\n',
        replace:
          '    const others = this.#waiting.takeAll();\n    this.#waiting.push({ write, bytes });\n    for (const other of others) this.#waiting.push(other);\n',
      },
    ],
    test: {
      file: 'packages/backend/test/order.test.ts',
      why: 'two requests under way may take effect in either order',
    },
  },
  {
    name: 'decision-never-resumed',
    what: 'what waits for a long write is not decided after it',
    edits: [
      {
        file: `${backend}/decide/decisions.ts`,
        find: '      loop.later(NEXT, () => void loop.run(NEXT, this.#decideWaiting()));\n',
        replace: '      void [loop, NEXT, this.#decideWaiting()];\n',
      },
    ],
  },
  {
    name: 'undo-forgets-leased-keys',
    what: 'a step-down undoes all versions but those with a lease',
    edits: [
      {
        file: 'packages/sequencer/src/change.ts',
        find: '      const { key, position, type, lease, prevLease } = events[at]!;\n',
        replace:
          '      const { key, position, type, lease, prevLease } = events[at]!;\n      if (lease !== NO_LEASE) continue;\n',
      },
    ],
  },
  {
    name: 'undo-in-order',
    what: 'a step-down takes versions back in the order in which they came',
    edits: [
      {
        file: `${backend}/write/path-end.ts`,
        find: 'for (let at = writes.length - 1; at >= 0; at -= 1) {',
        replace: 'for (let at = 0; at < writes.length; at += 1) {',
      },
    ],
  },
  {
    name: 'compaction-ignores-pins',
    what: 'a compaction drops what a reader is about to read',
    edits: [
      {
        file: `${backend}/checkpoint/compactor.ts`,
        find: 'const cleared = pins.clearBelow(target);',
        replace: 'const cleared = pins.size < 0 ? pins.clearBelow(target) : undefined;',
      },
    ],
  },
  {
    name: 'compaction-takes-ended-run',
    what: 'a compaction that takes effect while the run before it ends is not begun',
    edits: [
      {
        file: `${backend}/checkpoint/compactor.ts`,
        find: '      this.#run = undefined;',
        replace: '      await Promise.resolve();\n      this.#run = undefined;',
      },
    ],
    test: {
      file: 'packages/backend/test/compactor.test.ts',
      why: 'the answer of an append must come between two steps of promises',
    },
  },
  {
    name: 'checkpoint-has-pending-versions',
    what: 'a checkpoint takes in versions that are under way and may never be durable',
    edits: [
      {
        file: `${backend}/checkpoint/checkpointer.ts`,
        find: 'if (index.position(slot) < next) versions.push(slot);',
        replace: 'if (next > 0) versions.push(slot);',
      },
    ],
  },
  {
    name: 'checkpoint-misses-old-versions',
    what: 'a checkpoint has only the newest version of each key',
    edits: [
      {
        file: `${backend}/checkpoint/checkpointer.ts`,
        find: '      if (versions.length === 0) return seen;\n',
        replace: '      if (versions.length === 0) return seen;\n      versions.length = 1;\n',
      },
    ],
  },
  {
    name: 'checkpoint-misses-garbage',
    what: 'a checkpoint does not name what storage has not been told of',
    edits: [
      {
        file: `${backend}/checkpoint/checkpointer.ts`,
        find: 'const positions = garbage.left;',
        replace: 'const positions = garbage.left.slice(0, 0);',
      },
    ],
  },
  {
    name: 'progress-early',
    what: 'a progress mark does not wait for watchers that are behind',
    edits: [
      {
        file: 'packages/watch-hub/src/streams/stream-progress.ts',
        find: 'if (this.#watchers === 0 || this.#behind > 0)',
        replace: 'if (this.#watchers === 0)',
      },
    ],
  },
  {
    name: 'refused-events-are-lost',
    what: 'a watcher that refused events goes on behind them',
    edits: [
      {
        file: 'packages/watch-hub/src/catch-up/catch-up.ts',
        find: 'refused?.[0]?.revision ?? next',
        replace: 'next',
      },
    ],
  },
  {
    name: 'backlog-is-lost',
    what: 'a watcher does not get what was published while its history was read',
    edits: [
      {
        file: 'packages/watch-hub/src/catch-up/catch-up.ts',
        find: '...groups, ...late]',
        replace: '...groups]',
      },
    ],
  },
  {
    name: 'events-out-of-order',
    what: 'a watcher gets what was published while its history was read before that history',
    edits: [
      {
        file: 'packages/watch-hub/src/catch-up/catch-up.ts',
        find: '[...groups, ...late]',
        replace: '[...late, ...groups]',
      },
    ],
  },
  {
    name: 'prev-kv-below-compaction',
    what: 'history shows the version before a compacted revision, which may be dropped',
    edits: [
      {
        file: `${backend}/replica/watch-history.ts`,
        find: 'const before = index.modRevision(slot) > compactRevision ? index.previous(slot) : -1;',
        replace: 'const before = index.previous(slot) + 0 * compactRevision;',
      },
    ],
  },
  {
    name: 'expired-lease-revived',
    what: 'a lease is renewed after its time',
    edits: [
      {
        file: 'packages/lease/src/lessor.ts',
        find: 'if (held === undefined || held.ended || held.dueMs <= nowMs) return undefined;',
        replace: 'if (held === undefined) return undefined;',
      },
    ],
  },
  {
    name: 'renewal-does-not-count',
    what: 'a renewal is acknowledged and moves no deadline',
    edits: [
      {
        file: 'packages/lease/src/lessor.ts',
        find: 'held.dueMs = Math.max(held.dueMs, nowMs + held.grantedTtlSeconds * 1000);',
        replace: '',
      },
    ],
  },
  {
    name: 'takeover-extends-no-lease',
    what: 'leases keep the deadlines of a leadership that has ended',
    edits: [
      { file: `${backend}/lead/leadership.ts`, find: '    state.lessor.extendAll(clock.nowMs());\n', replace: '' },
    ],
  },
  {
    name: 'recovered-leases-have-no-keys',
    what: 'after a start a lease that ends leaves its keys',
    edits: [
      { file: `${backend}/apply/replicated-state.ts`, find: '        this.lessor.attach(id, key);\n', replace: '' },
    ],
  },
  {
    name: 'moved-key-stays-attached',
    what: 'a key that was put under another lease goes with the first one',
    edits: [
      {
        file: `${backend}/apply/replicated-state.ts`,
        find: 'if (prevLease !== NO_LEASE && prevLease !== ending) this.lessor.detach(prevLease, key);',
        replace: 'void ending;',
      },
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: ' && versions.lease(head) === attachedTo) {',
        replace: ') {',
      },
    ],
  },
  {
    name: 'revision-assigned-twice',
    what: 'the end of a lease and the next write have the same revision',
    edits: [
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: '    this.#accept(change);\n    return change;',
        replace: '    this.#next = change.next;\n    return change;',
      },
    ],
  },
  {
    name: 'effects-before-visible',
    what: 'watchers hear of a batch before readers see it',
    edits: [
      {
        file: `${backend}/replica/durable-path.ts`,
        find: '      yield* applier.apply(writes, next);\n',
        replace: '      void Promise.resolve().then(() => [...applier.apply(writes, next)]);\n',
      },
      {
        file: `${backend}/publish/publisher.ts`,
        find: '{ groups, revision: state.revision }',
        replace: '{ groups, revision: groups.at(-1)!.revision }',
      },
    ],
  },
  {
    name: 'long-write-lets-others-in',
    what: 'other writes are decided between two slices of a long one',
    edits: [
      {
        file: `${backend}/decide/decisions.ts`,
        find: 'return this.#current === undefined && this.#waiting.length === 0;',
        replace: 'return this.#waiting.length === 0;',
      },
      {
        file: `${backend}/decide/decisions.ts`,
        find: "    assert(this.#current === undefined, 'two decisions at a time');\n",
        replace: '',
      },
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: "    assert(!this.#underWay, 'a transaction is decided within another');\n    const failing",
        replace: '    const failing',
      },
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: "    assert(!this.#underWay, 'a transaction is decided within another');\n    this.#underWay = true;",
        replace: '    this.#underWay = true;',
      },
    ],
  },
  {
    name: 'given-up-write-stays',
    what: 'a long write that is given up in the middle leaves its changes in the index',
    edits: [
      {
        file: 'packages/sequencer/src/sequencer.ts',
        find: '    yield* this.#keys.undo(change.events, turn);\n',
        replace: '',
      },
    ],
  },
  {
    name: 'undo-before-the-long-write',
    what: 'a step-down takes writes back while a long one above them still is in the index',
    scenario: 'step-down-in-long-write',
    edits: [
      {
        file: `${backend}/write/path-end.ts`,
        find: 'const before = this.#undoing ?? decisions.longEnded;',
        replace: 'const before = this.#undoing;',
      },
    ],
  },
  {
    name: 'long-write-moves-keys-in-sight',
    what: 'the keys of a lease are shown while a long write that ends it takes effect',
    edits: [
      {
        file: `${backend}/replica/replica.ts`,
        find: '    await this.#applier.wholeLeases();\n',
        replace: '',
      },
    ],
  },
  {
    name: 'long-write-pins-nothing',
    what: 'a compaction drops what a long write has noted for its answer',
    scenario: 'old-reads',
    edits: [
      {
        file: `${backend}/decide/decisions.ts`,
        find: '        pin ??= pins.hold(NO_REVISION);\n',
        replace: '        void [pins, NO_REVISION];\n',
      },
    ],
  },
  {
    name: 'drop-before-checkpoint',
    what: 'records leave storage although a replay needs them',
    edits: [
      {
        file: `${backend}/checkpoint/garbage.ts`,
        find: '(position < this.#from ? this.#covered : this.#waiting).push(position);',
        replace: 'this.#covered.push(position);',
      },
      // Positions are told apart once more before they are dropped.
      {
        file: `${backend}/checkpoint/garbage.ts`,
        find: '(position < this.#from ? dropping : this.#waiting).push(position);',
        replace: 'dropping.push(position);',
      },
    ],
  },
  {
    name: 'tombstones-live',
    what: 'a compaction keeps tombstones below it for ever',
    edits: [
      {
        file: 'packages/index/src/key-index.ts',
        find: '      if (next === NO_VERSION) this.#removeKey(tombstone, dropped);\n',
        replace: '      if (next === NO_VERSION) continue;\n',
      },
    ],
  },
];

export const mutants: readonly Mutant[] = [
  ...past,
  ...possible,
  ...loopMutants,
  ...stageMutants,
  ...diskMutants,
  ...usersMutants,
];
