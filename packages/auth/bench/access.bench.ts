import { EMPTY_BYTES, type KeyRange, type Op, prefixRange, putOp, rangeOp, type Txn, utf8 } from '@engram/core';
import { MeasuredPace } from '@engram/loop';
import {
  applyAuthChange,
  type AuthChange,
  AuthState,
  KeyAccess,
  NameTable,
  PasswordHash,
  type Role,
  type User,
} from '@engram/auth';

// The promise: roles with very many ranges do not change what a check costs, beside the tens of microseconds of a request.
const full = process.env['BENCH'] !== 'smoke';
const roleCount = full ? 1_000 : 10;
const rangesPerRole = full ? 100 : 3;
const checks = full ? 1_000_000 : 100;

/** CPU time: others use the machine too. */
function measure(name: string, count: number, work: () => number): void {
  const before = process.cpuUsage();
  const hash = work();
  const { user, system } = process.cpuUsage(before);
  const us = user + system;
  console.log(`${name}: ${count} in ${(us / 1000).toFixed(1)} ms, ${(us / count).toFixed(3)} us each (hash ${hash})`);
}

/** The `at`-th of all ranges: prefixes that do not touch. */
const rangeAt = (at: number): KeyRange => prefixRange(utf8(`/tenants/${String(at).padStart(8, '0')}/`));
const user = (name: string, roles: readonly string[]): User => ({
  name,
  password: PasswordHash.none,
  noPassword: true,
  roles,
});

/** How the ranges of the roles lie: those of a role together, or those of all roles in turn. */
const layouts: Readonly<Record<string, (role: number, range: number) => number>> = {
  'a role together': (role, range) => role * rangesPerRole + range,
  'roles in turn': (role, range) => range * roleCount + role,
};

for (const [layout, place] of Object.entries(layouts)) {
  const roles: Role[] = Array.from({ length: roleCount }, (_, role) => ({
    name: `role-${String(role).padStart(5, '0')}`,
    permissions: Array.from({ length: rangesPerRole }, (_, range) => ({ type: 2, range: rangeAt(place(role, range)) })),
  }));
  const names = roles.map(({ name }) => name);
  const users = [user('root', ['root']), user('one', [names[0]!]), user('all', names)];
  const state = new AuthState({ enabled: true, revision: 7, users: NameTable.of(users), roles: NameTable.of(roles) });
  console.log(`-- ${roleCount} roles of ${rangesPerRole} ranges, ${layout}`);

  const sizeFor = (asked: AuthState): number => {
    const rights = asked.rightsOf('all');
    return rights === undefined || rights.root ? 0 : rights.read.size;
  };
  measure('first check of a user with all roles', 1, () => sizeFor(state));
  const change: AuthChange = {
    kind: 'role-grant-permission',
    role: names[1]!,
    permission: { type: 2, range: { key: utf8('/x'), end: EMPTY_BYTES } },
  };
  let next = state;
  measure('a change of one role', 1, () => {
    const outcome = applyAuthChange(state, change);
    if (outcome.kind === 'changed') next = outcome.state;
    return next.revision;
  });
  measure('first check after it', 1, () => sizeFor(next));
  const fresh = new AuthState({ enabled: true, revision: 7, users: NameTable.of(users), roles: next.roles });
  const pace = new MeasuredPace({ nowMs: () => performance.now() });
  let longestUs = 0;
  let slices = 0;
  measure('the same in slices', 1, () => {
    const work = fresh.prepareRights('all', pace);
    for (let done = false; !done; slices += 1) {
      pace.begin();
      const { user } = process.cpuUsage();
      done = work.next().done === true;
      longestUs = Math.max(longestUs, process.cpuUsage().user - user);
    }
    return sizeFor(fresh);
  });
  console.log(`  ${slices} slices, the longest ${(longestUs / 1000).toFixed(1)} ms`);

  for (const name of ['root', 'one', 'all']) {
    const owned = name === 'one' ? rangesPerRole : roleCount * rangesPerRole;
    const rangeOf = (at: number): number => (name === 'one' ? place(0, at % owned) : at % owned);
    const keys = Array.from({ length: 1_000 }, (_, at) => {
      const { key } = rangeAt(rangeOf(at * 7_919));
      return utf8(`${Buffer.from(key)}key`);
    });
    const who = { user: name, authRevision: 7 };
    measure(`a get, ${name}`, checks, () => {
      let permitted = 0;
      for (let at = 0; at < checks; at += 1) {
        const key = keys[at % keys.length]!;
        if (new KeyAccess(state, who).read({ key, end: EMPTY_BYTES }) === undefined) permitted += 1;
      }
      return permitted;
    });

    const ops: readonly Op[] = [
      rangeOp({ key: keys[1]!, end: EMPTY_BYTES }),
      putOp(keys[2]!, EMPTY_BYTES, { prevKv: true }),
    ];
    const txn: Txn = { compares: [], success: ops, failure: ops };
    measure(`a transaction of 4 operations, ${name}`, checks / 10, () => {
      let permitted = 0;
      for (let at = 0; at < checks / 10; at += 1) {
        if (new KeyAccess(state, who).txn(txn, () => []) === undefined) permitted += 1;
      }
      return permitted;
    });
  }
}
