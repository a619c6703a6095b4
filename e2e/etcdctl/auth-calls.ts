import { FORMATS, type ToolJudge } from './judge.ts';
import { withoutHash } from './maintenance-calls.ts';

const type = (name: string): string => `etcdserverpb.Auth${name}Response`;
const ROOT = ['--user=root:secret'];
const ANN = ['--user=ann', '--password=pass'];

/** auth, role, user; then commands of all kinds with users: none, a wrong one, one with few rights, root. */
export async function authCalls(judge: ToolJudge): Promise<void> {
  await judge.formats(['auth', 'status'], type('Status'));
  await judge.call(['auth', 'status', 'more']);
  await judge.call(['auth', 'enable']);
  await judge.call(['auth', 'enable', 'more']);
  await roles(judge);
  await users(judge);
  await judge.call(['user', 'add', 'root:secret']);
  await judge.call(['auth', 'enable']);
  await judge.call(['auth', 'enable'], { flags: ROOT });
  await judge.formats(['auth', 'status'], type('Status'), { flags: ROOT });
  await withUsers(judge);
  await judge.call(['auth', 'disable', 'more'], { flags: ROOT });
  await judge.call(['auth', 'disable'], { flags: ANN });
  await judge.call(['auth', 'disable']);
  await judge.call(['auth', 'disable'], { flags: ROOT });
  await judge.call(['auth', 'disable']);
  await judge.call(['get', 'foo']);
  await judge.call(['get', 'foo'], { flags: ROOT });
}

async function roles(judge: ToolJudge): Promise<void> {
  await judge.formats(['role', 'list'], type('RoleList'));
  await judge.formats(['role', 'add', 'role-$format'], type('RoleAdd'));
  await judge.call(['role', 'add', 'role-json']);
  await judge.call(['role', 'add', '']);
  await judge.call(['role', 'add']);
  const grant = (...args: readonly string[]) => judge.call(['role', 'grant-permission', ...args]);
  await judge.formats(['role', 'grant-permission', 'role-json', 'read', 'key-$format'], type('RoleGrantPermission'));
  await grant('role-json', 'readwrite', 'a', 'f');
  await grant('role-json', 'write', 'p/', '--prefix');
  await grant('role-json', 'read', 'x', '--from-key');
  await grant('role-json', 'write', '', '--prefix');
  await grant('role-json', 'write', 'z', 'a');
  await grant('role-json', 'write', '');
  await grant('role-json', 'execute', 'a');
  await grant('role-json', 'read');
  await grant('role-json', 'read', 'a', 'b', '--prefix');
  await grant('none', 'read', 'a');
  await judge.formats(['role', 'get', 'role-json'], type('RoleGet'));
  await judge.call(['role', 'get', 'none']);
  await judge.call(['role', 'get']);
  const revoke = (...args: readonly string[]) => judge.call(['role', 'revoke-permission', ...args]);
  await judge.formats(['role', 'revoke-permission', 'role-json', 'key-$format'], type('RoleRevokePermission'));
  await revoke('role-json', 'key-json');
  await revoke('role-json', 'a', 'e');
  await revoke('role-json', 'a', 'f');
  await revoke('role-json', 'p/', '--prefix');
  await revoke('role-json', 'x', '--from-key');
  await revoke('role-json');
  await revoke('none', 'a');
  await judge.formats(['role', 'list'], type('RoleList'));
  await judge.call(['role', 'list', 'more']);
  await judge.formats(['role', 'delete', 'role-$format'], type('RoleDelete'));
  await judge.call(['role', 'delete', 'role-json']);
  await judge.call(['role', 'delete']);
}

async function users(judge: ToolJudge): Promise<void> {
  await judge.formats(['user', 'list'], type('UserList'));
  await judge.formats(['user', 'add', 'user-$format:pass'], type('UserAdd'));
  await judge.call(['user', 'add', 'user-json:pass']);
  await judge.call(['user', 'add', ':pass']);
  await judge.call(['user', 'add', '', '--interactive=false'], { input: 'pass\n' });
  await judge.call(['user', 'add']);
  await judge.call(['user', 'add', 'ann', '--interactive=false'], { input: 'first\n' });
  await judge.call(['user', 'add', 'bob', '--interactive=false'], { input: '' });
  await judge.call(['user', 'add', 'cn', '--no-password']);
  await judge.call(['user', 'add', 'flag', '--new-user-password=pass']);
  await judge.call(['user', 'passwd', 'ann', '--interactive=false'], { input: 'pass\n' });
  for (const format of FORMATS)
    await judge.call(['user', 'passwd', 'ann', '--interactive=false'], {
      input: 'pass\n',
      format,
      message: format === 'protobuf' ? type('UserChangePassword') : undefined,
    });
  await judge.call(['user', 'passwd', 'none', '--interactive=false'], { input: 'pass\n' });
  await judge.call(['user', 'passwd']);
  await judge.call(['role', 'add', 'few']);
  await judge.call(['role', 'grant-permission', 'few', 'readwrite', 'a', 'f']);
  await judge.call(['role', 'grant-permission', 'few', 'read', 'foo']);
  await judge.formats(['user', 'grant-role', 'ann', 'few'], type('UserGrantRole'));
  await judge.call(['user', 'grant-role', 'none', 'few']);
  await judge.call(['user', 'grant-role', 'ann', 'none']);
  await judge.call(['user', 'grant-role', 'ann']);
  await judge.formats(['user', 'get', 'ann'], type('UserGet'));
  for (const format of ['simple', 'json', 'fields'] as const)
    await judge.call(['user', 'get', 'ann', '--detail'], { format });
  await judge.call(['user', 'get', 'none']);
  await judge.call(['user', 'get']);
  await judge.call(['user', 'grant-role', 'user-json', 'few']);
  await judge.formats(['user', 'revoke-role', 'user-json', 'few'], type('UserRevokeRole'));
  await judge.call(['user', 'revoke-role', 'none', 'few']);
  await judge.call(['user', 'revoke-role', 'ann']);
  await judge.formats(['user', 'list'], type('UserList'));
  await judge.call(['user', 'list', 'more']);
  await judge.formats(['user', 'delete', 'user-$format'], type('UserDelete'));
  await judge.call(['user', 'delete', 'user-json']);
  await judge.call(['user', 'delete']);
}

/** Commands of all kinds, each as nobody, with a wrong password, with few rights, and as root. */
async function withUsers(judge: ToolJudge): Promise<void> {
  const callers = [[], ['--user=ann:wrong'], ['--user=none:pass'], ['--auth-jwt-token=nonsense'], ANN, ROOT];
  const commands = [
    ['get', 'foo'],
    ['get', 'a', 'g'],
    ['put', 'b', 'x'],
    ['put', 'foo', 'x'],
    ['del', 'b'],
    ['lease', 'grant', '100000'],
    ['lease', 'list'],
    ['lease', 'revoke', '7f'],
    ['user', 'get', 'ann'],
    ['user', 'list'],
    ['role', 'get', 'few'],
    ['role', 'list'],
    ['user', 'add', 'more:pass'],
    ['endpoint', 'status'],
    ['endpoint', 'health'],
    ['endpoint', 'hashkv'],
    ['member', 'list'],
    ['alarm', 'list'],
    ['alarm', 'disarm'],
    ['defrag'],
    ['move-leader', '7f'],
    ['downgrade', 'validate', '3.6'],
    ['snapshot', 'save', '$dir/by-user.db'],
    ['compaction', '9'],
  ];
  for (const args of commands) for (const flags of callers) await judge.call(args, { flags, settle: withoutHash });
  await judge.call(['txn'], { flags: ANN, input: '\nput b x\nput foo x\n\n\n' });
  await judge.call(['txn'], { flags: ANN, input: 'mod("z") = "0"\n\nput b x\n\n\n' });
  await judge.call(['lock', 'a-lock', '--', 'echo', 'locked'], { flags: ANN });
  await judge.call(['lock', 'x-lock', '--', 'echo', 'locked'], { flags: ANN });
  await judge.call(['elect', 'x-election', 'value'], { flags: ANN });
  const watching = judge.start(['watch', 'foo', '--rev=9'], { flags: ANN });
  // The last of its events.
  await watching.until(/PUT\nfoo\nx\n/);
  await watching.ended('SIGINT');
  await judge.call(['watch', 'x', '--rev=9'], { flags: ANN });
  const into = ['--rev=9', '--dest-user=ann', '--dest-password=wrong', '$endpoint'];
  await judge.call(['make-mirror', ...into], { flags: ROOT });
  await judge.call(['user', 'delete', 'root'], { flags: ROOT });
  await judge.call(['role', 'delete', 'root'], { flags: ROOT });
  await judge.call(['user', 'revoke-role', 'root', 'root'], { flags: ROOT });
  await judge.call(['user', 'passwd', 'ann', '--interactive=false'], { flags: ROOT, input: 'new\n' });
  await judge.call(['get', 'foo'], { flags: ANN });
  await judge.call(['user', 'passwd', 'ann', '--interactive=false'], { flags: ROOT, input: 'pass\n' });
}
