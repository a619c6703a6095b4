import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { readConfiguration } from '@engram/server';
import { flagTable } from '../src/flags/flag-table.ts';
import { ConfigFiles, configOf } from './config-files.ts';

const files = new ConfigFiles();
const { certFile } = files;

test('without arguments a node has the defaults of etcd', async () => {
  const config = await configOf([]);
  expect(config).toMatchObject({
    name: 'default',
    dataDir: 'default.etcd',
    transport: 'native',
    storage: 'auto',
    newCluster: true,
    advertiseClientUrls: ['http://localhost:2379'],
    advertisePeerUrls: ['http://localhost:2380'],
    listenClientHttpUrls: [],
    listenMetricsUrls: [],
    tls: undefined,
    electionTimeoutMs: 1000,
    quotaBytes: 2147483648,
    maxTxnOps: 128,
    maxRequestBytes: 1572864,
    maxConcurrentStreams: 4294967295,
    keepalive: { minTimeMs: 5000, intervalMs: 7_200_000, timeoutMs: 20_000 },
    watchProgressIntervalMs: 600_000,
    compaction: { mode: 'off' },
    extensiveMetrics: false,
    slowUnaryMs: 300,
    slowCommitMs: 100,
    loopBudgetMs: 10,
    loopBudgetCpu: false,
    loopBudgetFatal: false,
    log: { level: 'info', format: 'json', outputs: ['stderr'] },
    warnings: [],
  });
  expect(config.listenClientUrls).toMatchObject([{ scheme: 'http', host: 'localhost', port: 2379, secure: false }]);
});

test.each([
  { args: ['-name', 'a'], why: 'one dash and two words' },
  { args: ['--name', 'a'], why: 'two dashes and two words' },
  { args: ['-name=a'], why: 'one dash, one word' },
  { args: ['--name=b', '--name=a'], why: 'the last one wins' },
  { args: ['--pre-vote', '--name=a'], why: 'a bool takes no word after it' },
  { args: ['--name=a', '--pre-vote=F'], why: 'Go has many words for false' },
  { args: ['--name=a', '--'], why: 'nothing behind the end of flags' },
])('$args names the node a: $why', async ({ args }) => {
  expect((await configOf(args)).name).toBe('a');
});

test.each([
  { args: ['--data-dir=/x', '--name=y'], config: { dataDir: '/x', name: 'y' } },
  { args: ['--name=y'], config: { dataDir: 'y.etcd' }, why: 'the default goes by the name' },
  { args: ['--quota-backend-bytes=-1'], config: { quotaBytes: undefined }, why: 'negative is no bound' },
  { args: ['--quota-backend-bytes=0x100000'], config: { quotaBytes: 1048576 }, why: "Go's integers" },
  { args: ['--max-txn-ops=1_000'], config: { maxTxnOps: 1000 } },
  { args: ['--watch-progress-notify-interval=1m30s'], config: { watchProgressIntervalMs: 90_000 } },
  {
    args: ['--watch-progress-notify-interval=5ms'],
    config: { watchProgressIntervalMs: 100 },
    why: 'the least that etcd takes',
  },
  { args: ['--max-concurrent-streams=7'], config: { maxConcurrentStreams: 7 } },
  { args: ['--max-concurrent-streams=0'], config: { maxConcurrentStreams: 4294967295 }, why: 'as grpc-go takes it' },
  {
    args: ['--grpc-keepalive-timeout=0'],
    config: { keepalive: { minTimeMs: 5000, intervalMs: 0, timeoutMs: 0 } },
    why: 'never pinged',
  },
  {
    args: ['--auto-compaction-retention=5'],
    config: { compaction: { mode: 'periodic', periodMs: 18_000_000 } },
    why: 'hours',
  },
  { args: ['--auto-compaction-retention=90m'], config: { compaction: { mode: 'periodic', periodMs: 5_400_000 } } },
  {
    args: ['--auto-compaction-mode=revision', '--auto-compaction-retention=1000'],
    config: { compaction: { mode: 'revision', revisions: 1000 } },
  },
  { args: ['--auto-compaction-mode=revision'], config: { compaction: { mode: 'off' } } },
  {
    args: ['--auto-compaction-mode=revision', '--auto-compaction-retention=1h'],
    config: { compaction: { mode: 'revision', revisions: 3_600_000_000_000 } },
    why: 'as many revisions as nanoseconds, as in etcd',
  },
  { args: ['--metrics=Basic'], config: { extensiveMetrics: false }, why: 'whatever is not extensive is basic' },
  ...[
    ['INFO', 'info'],
    ['Warning', 'warn'],
    ['dpanic', 'panic'],
    ['', 'info'],
  ].map(([given, level]) => ({ args: [`--log-level=${given}`], config: { log: { level } }, why: 'as zap reads it' })),
  { args: ['--log-format='], config: { log: { format: 'json' } } },
  {
    args: ['--max-txn-ops=18446744073709551615', '--snapshot-count=18446744073709551615'],
    config: { maxTxnOps: Number.MAX_SAFE_INTEGER },
    why: "the most that Go's unsigned integers hold",
  },
  { args: ['--max-txn-ops=010'], config: { maxTxnOps: 8 }, why: 'octal, as in Go' },
  { args: ['--metrics=extensive'], config: { extensiveMetrics: true } },
  {
    args: ['--log-outputs=stdout,/tmp/a'],
    config: { log: { level: 'info', format: 'json', outputs: ['stdout', '/tmp/a'], rotation: undefined } },
  },
  {
    args: ['--log-outputs=stdout,/tmp/a', '--enable-log-rotation'],
    config: {
      log: {
        outputs: ['stdout', '/tmp/a'],
        rotation: { bytesMax: 100 * 2 ** 20, daysMax: 0, backupsMax: 0, localTime: false, compress: false },
      },
    },
    why: "etcd's defaults",
  },
  {
    args: [
      '--log-outputs=/tmp/a',
      '--enable-log-rotation',
      '--log-rotation-config-json={"MaxSize":0,"maxage":3,"maxbackups":4,"compress":true,"localtime":true,"other":[]}',
    ],
    config: {
      log: { rotation: { bytesMax: 100 * 2 ** 20, daysMax: 3, backupsMax: 4, localTime: true, compress: true } },
    },
    why: 'names in any case, 0 for the default size',
  },
  {
    args: ['--log-outputs=stderr,stdout', '--enable-log-rotation'],
    config: { log: { outputs: ['stderr', 'stdout'] } },
    why: 'etcd takes it, and has nothing to turn',
  },
  {
    args: ['--initial-cluster=default=http://a:1,default=http://a:2'],
    config: { name: 'default' },
    why: 'one member, two URLs',
  },
  { args: ['--discovery-token='], config: { name: 'default' }, why: 'a refused flag at its default harms nobody' },
  { args: ['--unsafe-no-fsync'], config: { warnings: ['flags without effect here: --unsafe-no-fsync'] } },
  { args: ['--snapshot-count=10000'], config: { warnings: [] }, why: 'the default, as kubeadm passes it' },
  {
    args: ['--cors=http://a', '--host-whitelist=b,c'],
    config: { corsOrigins: new Set(['http://a']), hostWhitelist: new Set(['b', 'c']) },
  },
])('$args: $why', async ({ args, config }) => {
  expect(await configOf(args)).toMatchObject(config);
});

test.each([
  { url: 'http://10.0.0.1:2379', parsed: { host: '10.0.0.1', port: 2379, path: undefined, secure: false } },
  { url: 'http://[::1]:80', parsed: { host: '::1', port: 80 }, why: 'a default port is a port' },
  { url: 'unix:///run/a.sock', parsed: { path: '/run/a.sock', secure: false } },
  { url: 'unix://localhost:2379', parsed: { path: 'localhost:2379' }, why: 'a file of that name: etcd takes it so' },
  { url: 'HTTP://10.0.0.1:2379', parsed: { scheme: 'http', text: 'http://10.0.0.1:2379' } },
  { url: 'unix:/run/a.sock', parsed: { path: '/run/a.sock' } },
])('$url is understood', async ({ url, parsed }) => {
  const config = await configOf([`--listen-client-urls=${url}`, '--advertise-client-urls=http://a:1']);
  expect(config.listenClientUrls).toMatchObject([parsed]);
});

test('URLs come sorted and without doubles, as etcd keeps them', async () => {
  const config = await configOf(['--advertise-client-urls=http://b:1, http://a:1,http://b:1']);
  expect(config.advertiseClientUrls).toEqual(['http://a:1', 'http://b:1']);
});

test.each([
  { args: ['left'], says: '"left" is not a valid flag' },
  { args: ['--listen-client-urls=http://1.2.3.4:1'], says: '--advertise-client-urls is required' },
  {
    args: ['--listen-client-urls=http://name:1', '--advertise-client-urls=http://a:1'],
    says: 'expected IP in URL for binding (http://name:1)',
  },
  { args: ['--advertise-client-urls=http://:1'], says: 'unexpected empty host (http://:1)' },
  {
    args: ['--heartbeat-interval=300'],
    says: '--election-timeout[1000ms] should be at least as 5 times as --heartbeat-interval[300ms]',
  },
  { args: ['--heartbeat-interval=0'], says: '--heartbeat-interval must be >0' },
  { args: ['--election-timeout=60000'], says: 'is too long, and should be set less than 50000ms' },
  { args: ['--storage=tikv'], says: 'needs --tikv-pd-endpoints' },
  { args: ['--tikv-prefix=a'], says: '--tikv-prefix: only with --storage=tikv' },
  {
    args: [
      '--storage=tikv',
      '--tikv-pd-endpoints=127.0.0.1:1',
      '--initial-cluster=a=http://a:1,b=http://b:1',
      '--name=a',
    ],
    says: 'has a=http://a:1 but missing from --initial-advertise-peer-urls=http://localhost:2380',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--initial-cluster=default=http://a:1,b=http://a:1'],
    says: 'the URL http://a:1 is there twice',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--peer-cert-allowed-cn=x'],
    says: '--peer-cert-allowed-cn: only with --peer-cert-file',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--peer-auto-tls', '--peer-crl-file=x'],
    says: '--peer-auto-tls knows no authority: give a certificate, or drop --peer-crl-file',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--listen-peer-urls=https://127.0.0.1:1'],
    says: 'must be provided for peer url https://127.0.0.1:1',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--peer-auto-tls', '--peer-client-cert-auth'],
    says: '--peer-auto-tls knows no authority: give a certificate, or drop --peer-client-cert-auth',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--peer-client-key-file=x'],
    says: '--peer-client-cert-file and --peer-client-key-file must both be present',
  },
  {
    args: ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--local-values=tape'],
    says: 'expected disk or memory',
  },
  {
    args: ['--discovery-token=x', '--discovery-endpoints=http://a:1'],
    says: '--discovery-token is not supported: no discovery service is asked. Name the members by --initial-cluster, or',
  },
  { args: ['--discovery-endpoints=http://a:1'], says: '--discovery-endpoints is not supported: no discovery service' },
  { args: ['--discovery-srv=example.org'], says: '--discovery-srv: a cluster needs --storage=tikv' },
  { args: ['--discovery-fallback=proxy'], says: 'v2 proxy is deprecated, and --discovery-fallback' },
  { args: ['--compact-hash-check-time=0s'], says: '--compact-hash-check-time must be >0 (set to 0s)' },
  { args: ['--cipher-suites=TLS_ROT13'], says: 'unexpected TLS cipher suite "TLS_ROT13"' },
  { args: ['--discovery-srv-name=blue'], says: '--discovery-srv-name needs --discovery-srv' },
  {
    args: ['--storage=tikv', '--discovery-srv=example.org', '--initial-cluster=default=http://a:1'],
    says: 'multiple discovery or bootstrap flags are set. Choose one of "initial-cluster"',
  },
  { args: ['--auth-token=jwt,pub-key=a'], says: 'sign-method must be one of' },
  { args: ['--auto-compaction-mode=never'], says: 'unknown auto-compaction-mode "never"' },
  { args: ['--auto-compaction-retention=soon'], says: 'error parsing CompactionRetention' },
  {
    args: ['--listen-client-urls=https://1.2.3.4:1', '--advertise-client-urls=https://a:1'],
    says: 'TLS key/cert (--cert-file, --key-file) must be provided for url https://1.2.3.4:1',
  },
  { args: ['--cert-file=/no/such'], says: '--cert-file and --key-file must both be present' },
  { args: ['--cert-file=/no/such', '--key-file=/no/such'], says: '--cert-file: cannot read /no/such' },
  {
    args: ['--tls-min-version=TLS1.3', '--tls-max-version=TLS1.2'],
    says: 'min version (TLS1.3) is greater than max version (TLS1.2)',
  },
  { args: ['--tls-min-version=TLS1.1'], says: 'unexpected TLS version "TLS1.1"' },
  {
    args: ['--tls-min-version=TLS1.3', '--cipher-suites=A'],
    says: 'cipher suites cannot be configured when only TLS1.3 is enabled',
  },
  { args: ['--feature-gates=LeaseCheckpointPersist=true'], says: 'requires enabling feature gate LeaseCheckpoint' },
  { args: ['--log-level=loud'], says: '--log-level=loud: expected one of debug, info' },
  { args: ['--log-outputs=default,stdout'], says: 'multi logoutput' },
  ...['/tmp/a,/tmp/b', '/tmp/a,/tmp/b,stderr', 'stderr', 'default'].map((outputs) => ({
    args: [`--log-outputs=${outputs}`, '--enable-log-rotation'],
    says: '--log-outputs requires a single file path when --log-rotate-config-json is defined',
  })),
  ...[
    ['{"maxsize"', 'improperly formatted log rotation config'],
    ['[]', 'invalid log rotation config: expected an object'],
    ['{"maxsize":"1"}', 'invalid log rotation config: maxsize takes a whole number from 0 on'],
    ['{"maxbackups":-1}', 'maxbackups takes a whole number'],
    ['{"compress":1}', 'compress takes true or false'],
  ].map(([json, says = '']) => ({
    args: ['--log-outputs=/tmp/a', '--enable-log-rotation', `--log-rotation-config-json=${json}`],
    says,
  })),
  { args: ['--logger=capnslog'], says: 'unknown logger option "capnslog"' },
  { args: ['--transport=pigeon'], says: 'expected native or grpc-js' },
  { args: ['--storage=tape'], says: 'expected auto, segment, leveldb, tikv or memory' },
])('$args is refused: $says', async ({ args, says }) => {
  await expect(readConfiguration(args, {})).rejects.toThrow(says);
});

test.each([
  { args: ['--max-txn-ops=-1'], says: 'invalid value "-1" for flag -max-txn-ops: parse error' },
  { args: ['--quota-backend-bytes=9223372036854775808'], says: 'value out of range' },
  { args: ['--snapshot-count=18446744073709551616'], says: 'value out of range' },
  { args: ['--max-concurrent-streams=4294967296'], says: 'value out of range' },
  { args: ['--max-txn-ops=08'], says: 'invalid value "08" for flag -max-txn-ops: parse error' },
  { args: ['--feature-gates=Nothing=true'], says: 'for flag -feature-gates: unrecognized feature gate: Nothing' },
  { args: ['--feature-gates=InitialCorruptCheck'], says: 'missing bool value for InitialCorruptCheck' },
  { args: ['--initial-cluster-state=old'], says: 'invalid value "old" for flag -initial-cluster-state: invalid value' },
  { args: ['--v2-deprecation=never'], says: 'invalid value "never" for flag -v2-deprecation: invalid value' },
  { args: ['--grpc-keepalive-interval=5'], says: 'invalid value "5" for flag -grpc-keepalive-interval: parse error' },
  {
    args: ['--listen-client-urls=ftp://1.2.3.4:1'],
    says: 'URL scheme must be http, https, unix, or unixs: ftp://1.2.3.4:1',
  },
  { args: ['--listen-client-urls=http://1.2.3.4'], says: 'URL address does not have the form "host:port"' },
  { args: ['--listen-client-urls=http://1.2.3.4:99999'], says: 'URL address does not have the form "host:port"' },
  { args: ['--listen-client-urls=http://1.2.3.4:1/'], says: 'URL must not contain a path' },
  { args: ['--config'], says: undefined, why: 'a flag that etcd has forgotten, too' },
])('$args is a matter of usage: $says', async ({ args, says }) => {
  const configuration = await readConfiguration(args, {});
  if (says === undefined) expect(configuration.kind).toBe('config');
  else expect(configuration).toMatchObject({ kind: 'usage', problem: expect.stringContaining(says) });
});

test('the environment fills in what flags leave open', async () => {
  const config = await configOf(['--name=a'], { ETCD_DATA_DIR: '/x', ETCD_MAX_TXN_OPS: '7', ETCD_LOG_LEVEL: '' });
  expect(config).toMatchObject({ name: 'a', dataDir: '/x', maxTxnOps: 7, log: { level: 'info' }, warnings: [] });
});

test.each([
  {
    environment: { ETCD_NAME: 'b' },
    says: 'conflicting environment variable ETCD_NAME is shadowed by the command-line flag --name',
  },
  { environment: { ETCD_NAME: '' }, says: 'conflicting environment variable ETCD_NAME' },
  { environment: { ETCD_MAX_TXN_OPS: 'x' }, says: 'invalid value "x" for ETCD_MAX_TXN_OPS: parse error' },
])('$environment beside --name=a is refused', async ({ environment, says }) => {
  await expect(readConfiguration(['--name=a'], environment as Record<string, string>)).rejects.toThrow(says);
});

test('variables of others are warned of, and ETCD_VERSION means nothing', async () => {
  const config = await configOf([], { ETCD_SERVICE_HOST: 'a', ETCD_VERSION: '3', ETCD_VERIFY: 'all', PATH: '/bin' });
  expect(config.warnings).toEqual([
    'unrecognized environment variable ETCD_SERVICE_HOST',
    'cannot set special environment variable ETCD_VERSION',
    'unrecognized environment variable ETCD_VERIFY',
  ]);
});

test.each(['ETCD_CLIENT_CERT_ALLOWED_CN', 'ETCD_PEER_CRL', 'ETCD_TRUSTED_CA', 'ETCD_HOST_WHITELISTS'])(
  '%s, which nobody knows and which may be meant to restrict, ends the start',
  async (name) => {
    await expect(readConfiguration([], { [name]: 'a' })).rejects.toThrow(`unrecognized environment variable ${name}:`);
    expect((await configOf([], { [name]: '' })).warnings).toEqual([`unrecognized environment variable ${name}`]);
  },
);

describe('TLS flags that would not do what they say', () => {
  const cert = ['--cert-file=CERT', '--key-file=CERT'];
  const withFile = (args: readonly string[]): string[] => args.map((arg) => arg.replace('CERT', certFile));
  const listen = (urls: string): string[] => [`--listen-client-urls=${urls}`, '--advertise-client-urls=https://a:1'];

  test.each([
    '--client-cert-auth',
    '--trusted-ca-file=ca.pem',
    '--client-crl-file=crl.pem',
    '--client-cert-allowed-hostname=a',
  ])('%s with --auto-tls is refused', async (flag) => {
    const says = `--auto-tls knows no client certificates: give a certificate, or drop ${flag.replace(/=.*/, '')}`;
    await expect(configOf([...listen('https://127.0.0.1:1'), '--auto-tls', flag])).rejects.toThrow(says);
  });

  test('names that clients must have are refused where nobody is asked for a certificate', async () => {
    const args = [...listen('https://127.0.0.1:1'), ...withFile(cert), '--client-cert-allowed-hostname=a'];
    await expect(configOf(args)).rejects.toThrow('only with --trusted-ca-file or --client-cert-auth');
  });

  test('an empty list of names allows nobody, as in etcd', async () => {
    const args = [...listen('https://127.0.0.1:1'), ...withFile(cert), '--client-cert-auth'];
    const config = await configOf([...args, '--client-cert-allowed-hostname=']);
    expect(config.tls).toMatchObject({ allowedHostnames: [''] });
  });

  test.each([
    {
      args: ['--trusted-ca-file=/nowhere.pem', '--client-cert-auth'],
      warns: 'no URL is https or unixs: without effect are --client-cert-auth --trusted-ca-file',
      why: 'nobody is asked for a certificate',
    },
    {
      args: cert,
      warns: 'no URL is https or unixs: without effect are --cert-file --key-file',
      why: 'nobody gets to see it',
    },
    {
      args: [...listen('http://127.0.0.1:1,https://127.0.0.1:2'), ...cert, '--client-cert-auth'],
      warns:
        'clients of http://127.0.0.1:1 are served without TLS, and without --cert-file --key-file --client-cert-auth',
      why: 'one of two',
    },
    {
      args: [...listen('https://127.0.0.1:2'), ...cert, '--client-crl-file=CERT'],
      warns: '--client-crl-file has no effect without --client-cert-auth or --trusted-ca-file',
      why: 'no certificates are asked for',
    },
  ])('$args are warned of: $why', async ({ args, warns }) => {
    expect((await configOf(withFile(args))).warnings).toEqual([warns]);
  });

  test('plain metrics beside TLS for clients are as usual', async () => {
    const args = [...listen('https://127.0.0.1:2'), ...cert, '--listen-metrics-urls=http://127.0.0.1:3'];
    expect((await configOf(withFile(args))).warnings).toEqual([]);
  });
});

test("kubeadm's static pod starts as it is, with one warning about what belongs to peers", async () => {
  const config = await configOf([
    '--advertise-client-urls=https://10.0.0.1:2379',
    `--cert-file=${certFile}`,
    '--client-cert-auth=true',
    '--data-dir=/var/lib/etcd',
    '--feature-gates=InitialCorruptCheck=true',
    '--initial-advertise-peer-urls=https://10.0.0.1:2380',
    '--initial-cluster=node-1=https://10.0.0.1:2380',
    `--key-file=${certFile}`,
    '--listen-client-urls=https://127.0.0.1:2379,https://10.0.0.1:2379',
    '--listen-metrics-urls=http://127.0.0.1:2381',
    '--listen-peer-urls=https://10.0.0.1:2380',
    '--name=node-1',
    `--peer-cert-file=${certFile}`,
    '--peer-client-cert-auth=true',
    `--peer-key-file=${certFile}`,
    `--peer-trusted-ca-file=${certFile}`,
    '--snapshot-count=10000',
    `--trusted-ca-file=${certFile}`,
    '--watch-progress-notify-interval=5s',
  ]);
  expect(config.warnings).toEqual([
    'flags without effect on a node that is alone: --listen-peer-urls --peer-cert-file --peer-key-file --peer-client-cert-auth --peer-trusted-ca-file',
  ]);
  expect(config).toMatchObject({
    watchProgressIntervalMs: 5000,
    tls: { clientCertAuth: true, trustedCaFile: certFile },
  });
});

test("a member's certificates for the others: files, a pair of its own for dialing, or self-made", async () => {
  const onTikv = ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1'];
  const files = [`--peer-cert-file=${certFile}`, `--peer-key-file=${certFile}`];
  const anybody = { checkDialers: false, crlFile: undefined, allowedCommonNames: [], allowedHostnames: [] };
  const pair = { certFile, keyFile: certFile };
  expect((await configOf([...onTikv, ...files])).cluster?.peerTls).toEqual({
    kind: 'files',
    bounds: { minVersion: 'TLS1.2', cipherSuites: [] },
    served: pair,
    dialed: pair,
    trustedCaFile: undefined,
    clientCertAuth: false,
    ...anybody,
  });
  const other = fileURLToPath(import.meta.url);
  const dialing = [`--peer-client-cert-file=${other}`, `--peer-client-key-file=${other}`];
  const withAuthority = [...onTikv, ...files, ...dialing, `--peer-trusted-ca-file=${certFile}`, '--peer-auto-tls'];
  expect((await configOf(withAuthority)).cluster?.peerTls).toEqual({
    kind: 'files',
    bounds: { minVersion: 'TLS1.2', cipherSuites: [] },
    served: pair,
    dialed: { certFile: other, keyFile: other },
    trustedCaFile: certFile,
    clientCertAuth: true,
    ...anybody,
    checkDialers: true,
  });
  const made = [...onTikv, '--peer-auto-tls', '--self-signed-cert-validity=3'];
  expect((await configOf(made)).cluster?.peerTls).toEqual({
    kind: 'auto',
    years: 3,
    bounds: { minVersion: 'TLS1.2', cipherSuites: [] },
  });
});

test('every flag of the table can be set to its default in all three ways', async () => {
  for (const { name, value } of flagTable.values()) {
    if (value === '') continue;
    expect((await configOf([`--${name}=${value}`, '--advertise-client-urls=http://a:1'])).warnings, name).toEqual([]);
    const variable = `ETCD_${name.toUpperCase().replaceAll('-', '_')}`;
    expect(
      (
        await configOf(name === 'listen-client-urls' ? ['--advertise-client-urls=http://a:1'] : [], {
          [variable]: value,
        })
      ).warnings,
      name,
    ).toEqual([]);
    expect(
      (await configOf(['--config-file', files.fileOf(`${name}: ${JSON.stringify(value)}`)])).warnings,
      name,
    ).toEqual([]);
  }
});
