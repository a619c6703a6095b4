import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { healthpb } from '@engram/wire';
import { Engram, engramPath, run } from './support/engram-process.ts';
import { GrpcClient } from './support/grpc-client.ts';

let scratch: string;
beforeAll(() => {
  scratch = mkdtempSync(join(tmpdir(), 'engram-process-'));
});
afterAll(() => rmSync(scratch, { recursive: true, force: true }));

const oneLine = (stderr: string): Record<string, unknown> => JSON.parse(stderr.trimEnd().split('\n').at(-1)!);

test('--version prints the four lines of etcd, then ours', async () => {
  const { code, stdout, stderr } = await run(['--version']);
  expect(stdout.split('\n')).toEqual([
    'etcd Version: 3.7.3',
    expect.stringMatching(/^Git SHA: \S+$/),
    expect.stringMatching(/^Go Version: /),
    expect.stringMatching(/^Go OS\/Arch: \w+\/\w+$/),
    'Engram Version: 0.1.0',
    '',
  ]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
});

test('--help names every flag and ends well', async () => {
  const { code, stdout } = await run(['--help']);
  expect(code).toBe(0);
  expect(stdout).toContain("--listen-client-urls 'http://localhost:2379'");
  expect(stdout).toContain('[not supported]');
});

test.each([
  { args: ['--bogus'], code: 2, says: 'flag provided but not defined: -bogus\nUsage:' },
  { args: ['--max-txn-ops=x'], code: 2, says: 'invalid value "x" for flag -max-txn-ops: parse error\nUsage:' },
  { args: ['--pre-vote=maybe'], code: 2, says: 'invalid boolean value "maybe" for -pre-vote: parse error\nUsage:' },
  { args: ['---x'], code: 2, says: 'bad flag syntax: ---x\nUsage:' },
  { args: ['--name'], code: 2, says: 'flag needs an argument: -name\nUsage:' },
  { args: ['grpc-proxy', 'start'], code: 2, says: 'the command grpc-proxy is not supported\nUsage:' },
])('$args is not understood: usage, and exit code 2', async ({ args, code, says }) => {
  const ended = await run(args);
  expect(ended.stderr.startsWith(says), ended.stderr).toBe(true);
  expect(ended.code).toBe(code);
});

test('a configuration that makes no sense ends the start with one line that says why', async () => {
  const { code, stderr } = await run(['--listen-client-urls', 'http://127.0.0.1:2379']);
  expect(oneLine(stderr)).toMatchObject({
    level: 'fatal',
    msg: 'failed to verify flags',
    error: '--advertise-client-urls is required when --listen-client-urls is set explicitly',
  });
  expect(code).toBe(1);
});

test('signals that scripts send to other programs have no effect, and nothing is debugged', async () => {
  const env = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_DEBUG: 'http,net,tls' };
  await using engram = await Engram.start([], { env });
  using client = new GrpcClient(engram.url);
  for (const signal of ['SIGUSR1', 'SIGUSR2'] as const) {
    engram.child.kill(signal);
    expect(await client.put('a', '1')).toBeGreaterThan(1);
  }
  expect((await engram.stop()).code).toBe(0);
  expect(engram.stderr).not.toMatch(/Debugger listening|NODE_TLS_REJECT_UNAUTHORIZED|^(?:HTTP|NET|TLS) /m);
});

test('a data directory that cannot be made ends the start at once, with the reason', async () => {
  for (const more of [[], ['--auto-tls', '--storage=memory']]) {
    const urls = ['--listen-client-urls=http://127.0.0.1:0', '--advertise-client-urls=http://127.0.0.1:0'];
    const { code, stderr } = await run(['--data-dir=/proc/engram/data', ...urls, ...more]);
    expect(oneLine(stderr)).toMatchObject({
      msg: 'failed to start',
      error: expect.stringContaining('cannot create the data directory /proc/engram/data: ENOENT'),
    });
    expect(code).toBe(1);
  }
});

test('serves, stops on SIGTERM with 0, and keeps its data, its ids, and a rising term', async () => {
  const dataDir = join(scratch, 'kept');
  const seen = [];
  for (let start = 0; start < 2; start += 1) {
    await using engram = await Engram.start([], { dataDir });
    using client = new GrpcClient(engram.url);
    if (start === 0) expect(await client.put('a', '1')).toBe(2);
    else expect(await client.get('a')).toBe('1');
    const status = await client.status();
    expect(status.version).toBe('3.7.3');
    seen.push({ cluster: status.header?.clusterId, member: status.header?.memberId, term: Number(status.raftTerm) });
    const { code, tookMs } = await engram.stop();
    expect(code).toBe(0);
    expect(tookMs).toBeLessThan(5000);
  }
  expect(seen[1]).toEqual({ ...seen[0], term: seen[0]!.term + 1 });
  expect(seen[0]!.member).not.toBe(0n);
});

test('an open watch does not hold up the stop, and ends with UNAVAILABLE or the connection, never with OK', async () => {
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  const watch = client.unary('/etcdserverpb.Watch/Watch', Buffer.from('0a030a0161', 'hex')).then(
    () => 'OK',
    (error: Error) => error.message,
  );
  // The watch is open when a later put on the same connection has been answered.
  await client.put('b', '1');
  const { code } = await engram.stop('SIGINT');
  expect(code).toBe(0);
  expect(await watch).not.toMatch(/^(?:OK|0)/);
});

test('who watches the health hears that the node takes its leave', async () => {
  await using engram = await Engram.start();
  using client = new GrpcClient(engram.url);
  const heard: number[] = [];
  let heardOne = (): void => {};
  const first = new Promise<void>((resolve) => {
    heardOne = resolve;
  });
  const watching = client.call('/grpc.health.v1.Health/Watch', new Uint8Array(0), {
    onMessage: (message) => {
      heard.push(healthpb.decodeHealthCheckResponse(message).status);
      heardOne();
    },
  });
  await first;
  await engram.stop();
  expect((await watching).status).toMatch(/^14: /);
  const { SERVING, NOT_SERVING } = healthpb.HealthCheckResponseServingStatus;
  expect(heard).toEqual([SERVING, NOT_SERVING]);
});

/** A client that begins a request and never completes it. A stop waits for it, as for any running call. */
async function stuckClient(engram: Engram): Promise<Socket> {
  const socket = connect(engram.port, '127.0.0.1').on('error', () => {});
  await new Promise<void>((resolve) => {
    socket.write('POST /health HTTP/1.1\r\nhost: a\r\ncontent-length: 10\r\n\r\nhalf', () => resolve());
  });
  // Requests arrive in order: once this one is answered, the server has read the incomplete one.
  await fetch(`${engram.url}/livez`);
  return socket;
}

test('a client that is stuck in a request delays the stop, but not beyond five seconds', async () => {
  await using engram = await Engram.start();
  const socket = await stuckClient(engram);
  const { code, tookMs } = await engram.stop();
  socket.destroy();
  expect(code).toBe(0);
  expect(tookMs).toBeLessThan(5000);
});

test('a second signal ends a stop that is under way at once', async () => {
  await using engram = await Engram.start();
  const socket = await stuckClient(engram);
  engram.child.kill('SIGTERM');
  await engram.logged(({ msg }) => msg === 'received signal; shutting down');
  const { code, tookMs } = await engram.stop();
  socket.destroy();
  expect(code).toBe(1);
  expect(tookMs).toBeLessThan(1000);
});

test('systemd is told once everybody can connect', async () => {
  const bin = join(scratch, 'systemd');
  const told = join(scratch, 'told');
  mkdirSync(bin);
  writeFileSync(join(bin, 'systemd-notify'), `#!/bin/sh\necho "$@" >${told}.new && mv ${told}.new ${told}\n`);
  chmodSync(join(bin, 'systemd-notify'), 0o755);
  const path = `${bin}:${process.env['PATH']}`;
  await using engram = await Engram.start([], { env: { PATH: path, NOTIFY_SOCKET: '/run/systemd/notify' } });
  await expect.poll(() => existsSync(told) && readFileSync(told, 'utf8')).toBe(`--ready --pid=${engram.child.pid}\n`);
});

test('--storage=memory needs no folder and keeps nothing', async () => {
  const dataDir = join(scratch, 'memory');
  await using engram = await Engram.start(['--storage=memory'], { dataDir });
  using client = new GrpcClient(engram.url);
  expect(await client.put('a', '1')).toBe(2);
  expect(existsSync(dataDir)).toBe(false);
});

test('a data directory has one process: the second one is refused, the first one goes on', async () => {
  await using engram = await Engram.start();
  const args = [
    '--data-dir',
    engram.dataDir,
    '--listen-client-urls',
    'http://127.0.0.1:0',
    '--advertise-client-urls',
    'http://a:1',
  ];
  const { code, stderr } = await run(args);
  expect(oneLine(stderr)['error']).toContain(`data directory ${engram.dataDir} is in use by another process`);
  expect(code).toBe(1);
  using client = new GrpcClient(engram.url);
  expect(await client.put('c', '1')).toBe(2);
});

test.each([
  { before: '', why: 'with its URL in the text' },
  { before: 'http://127.0.0.1:0,', why: 'and nobody was told before that the node serves' },
])('a port that is taken ends the start, $why', async ({ before }) => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`;
  const urls = ['--listen-client-urls', `${before}${url}`, '--advertise-client-urls', url];
  const args = ['--data-dir', join(scratch, 'port'), ...urls];
  const { code, stderr } = await run(args);
  taken.close();
  expect(oneLine(stderr)).toMatchObject({
    level: 'fatal',
    error: expect.stringMatching(`cannot listen on ${url}: .*EADDRINUSE`),
  });
  expect(stderr).not.toContain('ready to serve');
  expect(code).toBe(1);
});

test.each([
  { name: 'etcd', make: 'member/wal', says: 'holds the data of a member of etcd' },
  { name: 'copy', make: 'engram/copy/log', says: 'holds the copy of a member of a cluster' },
  {
    name: 'alone',
    make: 'engram/segments/1',
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1'],
    says: 'holds the data of --storage=segment, a node that is alone',
  },
  {
    name: 'existing',
    make: 'nothing',
    args: ['--initial-cluster-state=existing'],
    says: 'a member joins a cluster with --storage=tikv',
  },
])('a data directory that is not ours ($name) is refused and left alone', async ({ name, make, args = [], says }) => {
  const dataDir = join(scratch, name);
  mkdirSync(join(dataDir, make), { recursive: true });
  const { code, stderr } = await run(['--data-dir', dataDir, ...args]);
  expect(oneLine(stderr)['error']).toContain(says);
  expect(code).toBe(1);
});

test('a damaged identity is not written over', async () => {
  const dataDir = join(scratch, 'damaged');
  await (await Engram.start([], { dataDir })).stop();
  const file = join(dataDir, 'engram/identity.json');
  writeFileSync(file, '{"format":1,"clusterId":"0"');
  const { code, stderr } = await run(['--data-dir', dataDir]);
  expect(oneLine(stderr)['error']).toContain('identity.json is damaged');
  expect(code).toBe(1);
  expect(readFileSync(file, 'utf8')).toBe('{"format":1,"clusterId":"0"');
});

test('one warning names all flags without effect, and one each variable that nobody knows', async () => {
  await using engram = await Engram.start(['--snapshot-count=5', '--pre-vote=false', '--max-wals=5'], {
    env: { ETCD_NONSENSE: '1', ETCD_MAX_TXN_OPS: '7' },
  });
  const warnings = engram.lines.filter(({ level }) => level === 'warn').map(({ msg }) => msg);
  expect(warnings).toEqual([
    'unrecognized environment variable ETCD_NONSENSE',
    'flags without effect here: --snapshot-count',
    'flags without effect on a node that is alone: --pre-vote',
  ]);
});

test('runs from a configuration file alone', async () => {
  const dataDir = join(scratch, 'from-file');
  const file = join(scratch, 'engram.yaml');
  writeFileSync(
    file,
    `name: filed\ndata-dir: ${dataDir}\nlisten-client-urls: http://127.0.0.1:0\nadvertise-client-urls: http://127.0.0.1:0\nlog-level: info\n`,
  );
  await using engram = await Engram.start(['--config-file', file, '--name=ignored'], { defaults: false, dataDir });
  expect(engram.lines.find(({ msg }) => msg === 'now serving')).toMatchObject({ name: 'filed', 'data-dir': dataDir });
});

test('works through links, from every folder, and with an old node on PATH', async () => {
  const bin = join(scratch, 'bin');
  mkdirSync(join(scratch, 'links/deep'), { recursive: true });
  mkdirSync(bin);
  // A Node.js that is too old, first in PATH. The script must read its version and skip it.
  writeFileSync(
    join(bin, 'node'),
    '#!/bin/sh\n[ "$1" = --version ] && echo v20.20.2 && exit 0\necho "the old node ran" >&2\nexit 99\n',
  );
  chmodSync(join(bin, 'node'), 0o755);
  symlinkSync(engramPath, join(scratch, 'links/absolute'));
  symlinkSync('../absolute', join(scratch, 'links/deep/relative'));
  const path = `${bin}:${dirname(process.execPath)}:${process.env['PATH']}`;
  for (const command of ['links/absolute', 'links/deep/relative']) {
    const { stdout, stderr, code } = await run(['--version'], {
      command: join(scratch, command),
      cwd: scratch,
      env: { PATH: path },
    });
    expect({ stderr, code }).toEqual({ stderr: '', code: 0 });
    expect(stdout).toContain('etcd Version: 3.7.3');
  }
});

test('metrics and health have URLs of their own, without the version', async () => {
  await using engram = await Engram.start(['--listen-metrics-urls=http://127.0.0.1:0']);
  const address = engram.lines.find(({ msg }) => msg === 'serving metrics')?.['address'];
  expect((await fetch(`http://${address}/readyz`)).status).toBe(200);
  expect(await (await fetch(`http://${address}/metrics`)).text()).toContain('etcd_server_has_leader 1');
  expect((await fetch(`http://${address}/version`)).status).toBe(404);
  using client = new GrpcClient(`http://${address}`);
  await expect(client.get('a'), 'no gRPC there').rejects.toThrow();
});

test('metrics and health are served while a start waits, and say so', async () => {
  const silent = createServer();
  const connected = new Promise<Socket>((resolve) => silent.once('connection', resolve));
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
  const address = silent.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  try {
    const peers = ['--listen-peer-urls=http://127.0.0.1:0', '--initial-advertise-peer-urls=http://127.0.0.1:1'];
    const storage = ['--storage=tikv', `--tikv-pd-endpoints=127.0.0.1:${port}`, ...peers];
    await using engram = await Engram.start(
      [...storage, '--initial-cluster=default=http://127.0.0.1:1', '--listen-metrics-urls=http://127.0.0.1:0'],
      { until: 'serving metrics' },
    );
    await connected;
    const metrics = engram.lines.find(({ msg }) => msg === 'serving metrics')?.['address'];
    const ready = await fetch(`http://${metrics}/readyz`);
    expect(ready.status).toBe(503);
    expect(await ready.text()).toContain('[-]serializable_read failed: starting: opening\n');
    expect((await fetch(`http://${metrics}/livez`)).status).toBe(200);
    const health = await fetch(`http://${metrics}/health`);
    expect(await health.json()).toEqual({ health: 'false', reason: 'starting: opening' });
    expect(await (await fetch(`http://${metrics}/metrics`)).text()).toContain('engram_start_phase{phase="opening"} 1');
    expect((await engram.stop()).code).toBe(0);
  } finally {
    silent.close();
  }
});

test('HTTP URLs of their own take HTTP away from the client URLs', async () => {
  await using engram = await Engram.start(['--listen-client-http-urls=http://127.0.0.1:0']);
  const http = engram.lines.findLast(({ msg }) => msg === 'ready to serve client requests')?.['address'];
  expect(await (await fetch(`http://${http}/health`)).json()).toEqual({ health: 'true', reason: '' });
  await expect(fetch(`${engram.url}/health`)).rejects.toThrow();
  using client = new GrpcClient(engram.url);
  expect(await client.put('a', '1')).toBe(2);
});

test('a socket in the file system serves like a port', async () => {
  const path = join(scratch, 'engram.sock');
  const url = `unix://${path}`;
  const dataDir = join(scratch, 'unix');
  await using engram = await Engram.start(
    ['--data-dir', dataDir, '--listen-client-urls', url, '--advertise-client-urls', url],
    {
      defaults: false,
      dataDir,
    },
  );
  expect(engram.address).toBe(path);
});

test('--auto-tls serves with a certificate that stays', async () => {
  const dataDir = join(scratch, 'auto-tls');
  const args = [
    '--data-dir',
    dataDir,
    '--auto-tls',
    '--listen-client-urls=https://127.0.0.1:0',
    '--advertise-client-urls=https://127.0.0.1:0',
  ];
  const certificates = [];
  for (let start = 0; start < 2; start += 1) {
    await using engram = await Engram.start(args, { defaults: false, dataDir });
    const ca = readFileSync(join(dataDir, 'engram/client-tls/cert.pem'));
    certificates.push(ca.toString());
    using client = new GrpcClient(`https://127.0.0.1:${engram.port}`, { ca });
    expect(await client.put('a', String(start))).toBe(2 + start);
    await engram.stop();
  }
  expect(certificates[0]).toBe(certificates[1]);
});

test('log lines go where --log-outputs says, from --log-level on', async () => {
  const file = join(scratch, 'log');
  const dataDir = join(scratch, 'logged');
  const args = [
    '--data-dir',
    dataDir,
    '--log-outputs',
    `${file},stderr`,
    '--listen-client-urls=http://127.0.0.1:0',
    '--advertise-client-urls=http://a:1',
  ];
  await using engram = await Engram.start(args, { defaults: false, dataDir });
  await engram.stop();
  expect(readFileSync(file, 'utf8')).toBe(engram.stderr);
});
