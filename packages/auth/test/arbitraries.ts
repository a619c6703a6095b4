import fc from 'fast-check';
import { applyAuthChange, type AuthChange, type AuthRecord, AuthState, PasswordHash } from '@engram/auth';
import { keyRanges } from './key-model.ts';

const users = fc.constantFrom('root', 'alice', 'bob', 'é', '');
const roles = fc.constantFrom('root', 'app', 'ops', '\u{1f600}', '');
const hashes = fc.uint8Array({ maxLength: 60 }).map((bytes) => new PasswordHash(bytes));
const permissions = fc.record({ type: fc.constantFrom(0, 1, 2, 7, -1), range: keyRanges });

const kind = <const Kind extends AuthChange['kind']>(kind: Kind) => fc.constant(kind);

/** Changes of which many fit a state and many are refused. */
export const changes: fc.Arbitrary<AuthChange> = fc.oneof(
  fc.record({ kind: kind('enable') }),
  fc.record({ kind: kind('disable') }),
  fc.record({ kind: kind('user-add'), name: users, noPassword: fc.boolean(), password: hashes }),
  fc.record({ kind: kind('user-delete'), name: users }),
  fc.record({ kind: kind('user-change-password'), name: users, password: hashes }),
  { weight: 3, arbitrary: fc.record({ kind: kind('user-grant-role'), user: users, role: roles }) },
  fc.record({ kind: kind('user-revoke-role'), user: users, role: roles }),
  { weight: 2, arbitrary: fc.record({ kind: kind('role-add'), name: roles }) },
  fc.record({ kind: kind('role-delete'), name: roles }),
  { weight: 3, arbitrary: fc.record({ kind: kind('role-grant-permission'), role: roles, permission: permissions }) },
  fc.record({ kind: kind('role-revoke-permission'), role: roles, range: keyRanges }),
);

/** The states that the changes lead to, and the records of those that changed something. */
export function play(steps: readonly AuthChange[]): { states: AuthState[]; records: AuthRecord[] } {
  const states = [AuthState.first];
  const records: AuthRecord[] = [];
  for (const change of steps) {
    const outcome = applyAuthChange(states.at(-1)!, change);
    if (outcome.kind !== 'changed') continue;
    states.push(outcome.state);
    records.push({ revision: outcome.state.revision, change });
  }
  return { states, records };
}

/** A state as plain data, hashes included, to be compared. */
export const plain = ({ enabled, revision, users, roles }: AuthState): unknown => ({
  enabled,
  revision,
  users: users.rows.map(({ password, ...user }) => ({ ...user, password: [...password.reveal()] })),
  roles: roles.rows,
});

export const plainChange = (change: AuthChange): unknown =>
  'password' in change ? { ...change, password: [...change.password.reveal()] } : change;
