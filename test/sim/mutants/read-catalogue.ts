import type { Edit, Mutant } from './mutant.ts';

const member = 'packages/member/src';
const backend = 'packages/backend/src';
const raft = 'packages/raft-ts/src';

/** The log alone proves a read as well as a quorum does: a read is stale only if neither is asked. */
const logNotAsked: Edit = {
  file: `${member}/leadership-proof.ts`,
  find: 'const held = this.#checksOf(leadership.epoch).held();',
  replace: 'void this.#checksOf(leadership.epoch);\n    const held = Promise.resolve(true);',
};

/** Defects of what proves that a read is linearizable. */
export const readMutants: readonly Mutant[] = [
  {
    name: 'confirmed-by-a-later-leadership',
    what: 'an answer that an earlier leadership has made is confirmed by a later one of the same member',
    edits: [
      {
        file: `${backend}/backend.ts`,
        find: "if (this.#current.leadership !== leadership) throw new EngramError('LeaderChanged');",
        replace: 'void leadership;',
      },
    ],
    test: {
      file: 'packages/backend/test/step-down.test.ts',
      why: 'few seeds have a member lose and win its leadership within one slow read: 1 of some 1,000',
    },
  },
  {
    name: 'read-joins-a-round',
    what: 'a read index is that of a round that began before the read came',
    edits: [
      {
        file: `${member}/read-index.ts`,
        find: '        this.#next = undefined;\n        return this.#round();\n',
        replace: '        return this.#round().finally(() => {\n          this.#next = undefined;\n        });\n',
      },
    ],
  },
  {
    name: 'members-listed-behind',
    what: 'a leader does not say what it has committed of the membership',
    edits: [
      {
        file: `${member}/leader-calls.ts`,
        find: 'return { raftIndex: commitIndex() };',
        replace: 'void commitIndex;\n      return {};',
      },
    ],
  },
  {
    name: 'two-of-five-confirm-a-read',
    what: 'a leader serves the reads of a member that asks, although the two are no majority',
    edits: [
      {
        file: `${raft}/raw-node.ts`,
        find: 'return hasQuorum(conf, (voter) => voter === self || voter === witness);',
        replace: 'return hasQuorum(conf, (voter) => voter === self || voter === witness) || isVoter(conf, witness);',
      },
      {
        file: `${raft}/raw-node.ts`,
        find: "import { type ConfState, hasQuorum } from './conf-state.ts';",
        replace: "import { type ConfState, hasQuorum, isVoter } from './conf-state.ts';",
      },
    ],
    test: {
      file: 'packages/raft-ts/test/replication.test.ts',
      why: 'the log proves each read too, and without it 1 of some 2,000 seeds cuts two of five off and has the follower ask',
    },
  },
  {
    name: 'read-without-quorum',
    what: 'a leader serves linearizable reads because it thinks that it leads, and asks neither a quorum nor the log',
    edits: [
      logNotAsked,
      {
        file: `${member}/leadership-proof.ts`,
        find: 'const confirmed = await driver.confirmLeadership(signal, witness);',
        replace: 'void signal;\n    void witness;\n    const confirmed = leadership.epoch;',
      },
    ],
  },
];
