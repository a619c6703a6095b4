import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { etcdserverpb } from '@engram/wire';
import { EtcdClient } from '../../test/support/etcd-client.ts';

/** Where the load generator's keys are. */
const PREFIX = '/registry/bench/';
const PREFIX_END = '/registry/bench0';
/** Calls at a time that make roles. */
const AT_ONCE = 64;

/** The flag of a store whose tokens are JWT; the keys are made in `folder`. */
export function jwtFlag(folder: string): string {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const keyFile = (name: string, pem: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, pem);
    return path;
  };
  const pub = keyFile('pub.pem', publicKey.export({ type: 'spki', format: 'pem' }));
  const priv = keyFile('priv.pem', privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return `--auth-token=jwt,sign-method=ES256,pub-key=${pub},priv-key=${priv},ttl=24h`;
}

/**
 * Users of the store at `target`, which asks for them from then on: `one`, who may use the prefix of the load; `roles` roles of `ranges`
 * ranges each, which are apart; and `all`, who has these too.
 */
export async function addUsers(target: string, roles: number, ranges: number): Promise<void> {
  using client = new EtcdClient(target, { deadlineMs: 60_000 });
  await client.auth('UserAdd', addUser('root'));
  await client.auth('UserGrantRole', grantRole('root', 'root'));
  await client.auth('RoleAdd', addRole('bench'));
  await client.auth('RoleGrantPermission', permit('bench', PREFIX, PREFIX_END));
  const names = Array.from({ length: roles }, (_, at) => `role-${at}`);
  await each(names, (name) => client.auth('RoleAdd', addRole(name)));
  const permissions = names.flatMap((name) =>
    Array.from({ length: ranges }, (_, at) => [name, `/${name}/${at}/a`, `/${name}/${at}/b`] as const),
  );
  await each(permissions, ([name, key, end]) => client.auth('RoleGrantPermission', permit(name, key, end)));
  for (const user of ['one', 'all']) {
    await client.auth('UserAdd', addUser(user));
    await client.auth('UserGrantRole', grantRole(user, 'bench'));
  }
  await each(names, (name) => client.auth('UserGrantRole', grantRole('all', name)));
  await client.auth('AuthEnable');
}

/** A token of the user. */
export async function logIn(target: string, name: string): Promise<string> {
  using client = new EtcdClient(target);
  const request = etcdserverpb.encodeAuthenticateRequest({ name, password: name });
  return etcdserverpb.decodeAuthenticateResponse(await client.auth('Authenticate', request)).token;
}

const addUser = (name: string) => etcdserverpb.encodeAuthUserAddRequest({ name, password: name });
const addRole = (name: string) => etcdserverpb.encodeAuthRoleAddRequest({ name });
const grantRole = (user: string, role: string) => etcdserverpb.encodeAuthUserGrantRoleRequest({ user, role });
const permit = (name: string, key: string, end: string) =>
  etcdserverpb.encodeAuthRoleGrantPermissionRequest({
    name,
    perm: { permType: 2, key: Buffer.from(key), rangeEnd: Buffer.from(end) },
  });

/** Does the work of each, a few at a time. */
async function each<Item>(items: readonly Item[], work: (item: Item) => Promise<unknown>): Promise<void> {
  for (let at = 0; at < items.length; at += AT_ONCE) await Promise.all(items.slice(at, at + AT_ONCE).map(work));
}
