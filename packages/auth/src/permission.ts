import { compareBytes, EMPTY_BYTES, isPoint, isUnbounded, type KeyRange } from '@engram/core';
import { authpb } from '@engram/wire';
import { firstNotBefore } from './name-table.ts';

/** READ, WRITE or READWRITE, with the numbers of authpb.Permission.Type. */
export const { PermissionType } = authpb;

/** What a role permits on a range of keys. */
export interface Permission {
  /** A PermissionType. Another number is kept and shown, and permits nothing, as in etcd. */
  readonly type: number;
  /** As the client sent it: an empty end is the key alone, the end `\0` is all keys from the key on. */
  readonly range: KeyRange;
}

/** What etcd shows as the permission of the role root, whatever is stored for it. */
export const rootPermission: Permission = {
  type: PermissionType.READWRITE,
  range: { key: EMPTY_BYTES, end: Uint8Array.of(0) },
};

/** Whether a permission on the range can be granted (etcd server/auth: isValidPermissionRange). */
export function isGrantable(range: KeyRange): boolean {
  if (range.key.length === 0) return false;
  return isPoint(range) || isUnbounded(range) || compareBytes(range.key, range.end) < 0;
}

const sameRange = (left: KeyRange, right: KeyRange): boolean =>
  compareBytes(left.key, right.key) === 0 && compareBytes(left.end, right.end) === 0;

/**
 * The permissions, sorted by key, with another one. It takes the place of the one of the same range; otherwise it comes
 * after those of its key. Its bytes are copied.
 *
 * etcd looks only at the first permission of the key: where a key has several, a second grant of one of the others is
 * added and does not take away what the first one permitted. Here the last grant of a range always counts.
 */
export function withPermission(permissions: readonly Permission[], { type, range }: Permission): readonly Permission[] {
  if (permissions.some((held) => sameRange(held.range, range))) {
    return permissions.map((held) => (sameRange(held.range, range) ? { type, range: held.range } : held));
  }
  const own = { type, range: { key: range.key.slice(), end: range.end.slice() } };
  return permissions.toSpliced(placeOf(permissions, range.key), 0, own);
}

/** Undefined if the range has no permission: only the very range is taken away, not parts of others. */
export function withoutPermission(
  permissions: readonly Permission[],
  range: KeyRange,
): readonly Permission[] | undefined {
  const left = permissions.filter((held) => !sameRange(held.range, range));
  return left.length === permissions.length ? undefined : left;
}

/** Behind the permissions of the key. */
const placeOf = (permissions: readonly Permission[], key: Uint8Array): number =>
  firstNotBefore(permissions.length, (at) => compareBytes(permissions[at]!.range.key, key) <= 0);
