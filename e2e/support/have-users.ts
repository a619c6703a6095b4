import { authpb, etcdserverpb as pb } from '@engram/wire';
import { EtcdClient } from '../../test/support/etcd-client.ts';

export interface UserOfTest {
  readonly name: string;
  readonly password: string;
  /** It may do everything below this; undefined: everything everywhere, as root. */
  readonly prefix: string | undefined;
}

/** Makes users with a role of their name each, and turns authentication on. One of them is named root, and has no prefix. */
export async function haveUsers(endpoint: string, users: readonly UserOfTest[]): Promise<void> {
  using client = new EtcdClient(endpoint);
  for (const { name, password, prefix } of users) {
    await client.auth('UserAdd', pb.encodeAuthUserAddRequest({ name, password }));
    const role = prefix === undefined ? 'root' : name;
    await client.auth('RoleAdd', pb.encodeAuthRoleAddRequest({ name: role }));
    if (prefix !== undefined) await client.auth('RoleGrantPermission', permission(role, prefix));
    await client.auth('UserGrantRole', pb.encodeAuthUserGrantRoleRequest({ user: name, role }));
  }
  await client.auth('AuthEnable');
}

function permission(name: string, prefix: string): Uint8Array {
  const key = Buffer.from(prefix);
  const rangeEnd = Buffer.from(key);
  rangeEnd[rangeEnd.length - 1]! += 1;
  const perm = { permType: authpb.PermissionType.READWRITE, key, rangeEnd };
  return pb.encodeAuthRoleGrantPermissionRequest({ name, perm });
}
