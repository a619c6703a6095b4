import type { Mutant } from './mutant.ts';

const member = 'packages/member/src';
const election = 'packages/election/src';

/** Defects that only a member that lies within its certificate shows, or one of the version before. */
export const peerMutants: readonly Mutant[] = [
  {
    name: 'dismissed-by-anybody',
    what: 'a member that hears its leader ends because another member says that it was removed',
    edits: [
      {
        file: `${election}/message-fault.ts`,
        find: 'return receiver.leader === undefined || receiver.mayBeRemoved\n',
        replace: 'return receiver.clusterId === clusterId\n',
      },
    ],
  },
  {
    name: 'compared-by-anybody',
    what: 'a member ends because another one, which does not lead, says that most have another hash',
    edits: [
      {
        file: `${member}/corruption-check.ts`,
        find: 'compare && from === leader()',
        replace: 'compare && from !== leader()',
      },
    ],
  },
  {
    name: 'speaks-for-others',
    what: 'a member may speak in the name of another one',
    edits: [
      {
        file: `${election}/message-fault.ts`,
        find: 'if (from !== speaker.member) return',
        replace: 'if (from === 0n) return',
      },
    ],
  },
  {
    name: 'acknowledged-beyond-the-log',
    what: 'a leader takes the acknowledgement of entries that it does not have',
    edits: [
      {
        file: 'packages/raft-ts/src/message-fault.ts',
        find: 'if (index > lastIndex) return `an answer',
        replace: 'if (index < 0) return `an answer',
      },
    ],
  },
  {
    name: 'recalls-unasked',
    what: 'a leader lets a member of the version before read a long answer from its own copy, which it cannot',
    edits: [
      { file: `${member}/leader-calls.ts`, find: 'recalls ? inlineBytesMax : undefined', replace: 'inlineBytesMax' },
    ],
  },
  {
    name: 'unreadable-calls-throw',
    what: 'a call that cannot be read has no answer',
    edits: [
      {
        file: `${member}/leader-calls.ts`,
        find: '      return peerpb.encodeAnswer(this.#refusal(error));\n    }\n  }\n\n  #answer(',
        replace: '      throw error;\n    }\n  }\n\n  #answer(',
      },
    ],
  },
];
