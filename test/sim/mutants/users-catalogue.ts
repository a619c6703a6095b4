import type { Mutant } from './mutant.ts';

const auth = 'packages/auth/src';
const backend = 'packages/backend/src';
const api = 'packages/etcd-api/src/auth';

/** Defects of users and roles, which a node shows alone and in a cluster. */
export const usersMutants: readonly Mutant[] = [
  {
    name: 'txn-branch-unchecked',
    what: 'rights are not asked for in the branch of a transaction that runs if its compares fail',
    edits: [
      {
        file: `${auth}/key-access.ts`,
        find: 'return this.#branch(success, keysOf) ?? this.#branch(failure, keysOf);',
        replace: 'void failure;\n    return this.#branch(success, keysOf);',
      },
    ],
  },
  {
    name: 'stale-auth-revision-accepted',
    what: 'a token of an older auth revision counts',
    edits: [
      {
        file: `${auth}/key-access.ts`,
        find: "  if (authRevision < revision) return 'AuthOldRevision';\n",
        replace: '  void revision;\n',
      },
    ],
  },
  {
    name: 'token-outlives-its-user',
    what: 'the simple tokens of a user go on after the user was deleted',
    edits: [
      {
        file: `${api}/authenticator.ts`,
        find: '      tokens.endUser(ended.user);\n      return;\n',
        replace: '      void tokens;\n      return;\n',
      },
    ],
  },
  {
    name: 'auth-change-not-in-checkpoint',
    what: 'users and roles that a checkpoint covers are lost with a restart',
    edits: [
      {
        file: `${backend}/checkpoint/checkpoint-header.ts`,
        find: '    auth: state.auth.encode(),\n',
        replace: '    auth: state.auth.encode().subarray(0, 0),\n',
      },
    ],
  },
  {
    name: 'auth-change-lost-at-a-takeover',
    what: 'a leader decides by users and roles as they are before the newest change, until it makes one itself',
    edits: [
      {
        file: `${backend}/lead/leadership.ts`,
        find: '    const auth = new DecidedAuth(state.auth.state);\n',
        replace:
          '    const newest = state.auth.state;\n    const lost = newest.roles.rows.at(-1)?.name ?? "";\n    const auth = new DecidedAuth(newest.next({ roles: newest.roles.without(lost) }, () => true));\n',
      },
    ],
  },
  {
    name: 'judged-by-what-has-taken-effect',
    what: 'a write behind a change of users that is on its way is judged without it',
    edits: [
      {
        file: `${backend}/write/write-rights.ts`,
        find: '    return this.#options.auth;\n',
        replace: '    return this.#options.replica.state.auth;\n',
      },
    ],
  },
  {
    name: 'judged-before-it-waits',
    what: 'a transaction is judged when it comes, and not again after it has waited for values',
    scenario: 'change-behind-waiting',
    edits: [
      {
        file: `${backend}/write/txn-decisions.ts`,
        find: 'if (this.#rights.enabled) this.#rights.permitNow(',
        replace: 'if (this.#rights.enabled && brought === undefined) this.#rights.permitNow(',
      },
    ],
  },
  {
    name: 'lease-keys-unasked',
    what: 'a put may use a lease with keys that its caller may not write',
    edits: [
      {
        file: `${backend}/auth/permits.ts`,
        find: "  for (const lease of leasesOf(txn)) yield* permitKeys(access, 'write', yield* keysOf(lease), turn);\n",
        replace: '  void [keysOf, turn, leasesOf];\n',
      },
    ],
  },
  {
    name: 'log-in-with-an-older-password',
    what: 'a log-in whose password was right before a change of it counts after the change',
    scenario: 'log-in-beside-new-password',
    edits: [
      {
        file: `${backend}/lead/auth-decisions.ts`,
        find: "    if (authRevision !== auth.state.revision) throw new EngramError('AuthOldRevision');\n",
        replace: '    void authRevision;\n',
      },
    ],
  },
  {
    name: 'watch-outlives-its-right',
    what: 'a watch goes on after its user has lost the right to read',
    edits: [
      {
        file: `${api}/watch-rights.ts`,
        find: '        if (access !== undefined) yield* this.#whileNewest(judged, holder.recheck(access));\n',
        replace: '        void [access, holder];\n',
      },
    ],
  },
  {
    name: 'serializable-read-unchecked',
    what: 'a read that a member answers from its own copy is not judged',
    edits: [
      {
        file: `${api}/authorized-store.ts`,
        find: '!(free || this.#permitsAtOnce(op, caller))',
        replace: '!(free || op.serializable || this.#permitsAtOnce(op, caller))',
      },
    ],
  },
];

/** Defects that only members show to each other. */
export const membersUsersMutants: readonly Mutant[] = [
  {
    name: 'follower-judges-for-the-leader',
    what: 'a follower judges what it forwards by the users that it knows, and the leader trusts it',
    edits: [
      {
        file: `${api}/authorized-store.ts`,
        find: '    return isReadOnly(txn) ? this.#readTxn(txn, caller) : this.#next.txn(txn, caller);\n',
        replace:
          '    if (isReadOnly(txn)) return this.#readTxn(txn, caller);\n    if (this.#isFree(caller)) return this.#next.txn(txn, caller);\n    const { signal, timeoutMs, user, authRevision } = caller;\n    const trusted: Caller = { signal, timeoutMs, user, authRevision, isNode: true };\n    return Promise.resolve(this.#permit(caller, this.#infoOf(caller), (access) => access.txn(txn, noKeys))).then(() => this.#next.txn(txn, trusted));\n',
      },
    ],
  },
  {
    name: 'read-judged-before-it-caught-up',
    what: 'a member that does not know yet that users count answers a linearizable read unjudged',
    scenario: 'enable-unheard',
    edits: [
      {
        file: `${api}/authorized-store.ts`,
        find: '      if (this.#isFree(caller)) return read(false);\n',
        replace: '      if (free || this.#isFree(caller)) return read(false);\n',
      },
    ],
  },
  {
    name: 'forwarded-without-its-user',
    what: 'the leader takes what another member forwards for calls of that member itself',
    edits: [
      {
        file: 'packages/member/src/leader-calls.ts',
        find: '    this.isNode = node;\n',
        replace: '    this.isNode = node || user !== "";\n',
      },
    ],
  },
  {
    name: 'renewals-of-one-user',
    what: 'renewals of a turn are judged for the user of the first of them',
    edits: [
      {
        file: 'packages/member/src/remote-leader.ts',
        find: '    if (list === undefined) lists.set(name, [renewal]);\n    else list.push(renewal);\n',
        replace:
          '    if (lists.size === 0) lists.set(name, [renewal]);\n    else (list ?? [...lists.values()][0]!).push(renewal);\n',
      },
    ],
  },
];
