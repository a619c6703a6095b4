import { join } from 'node:path';
import { readConfiguration } from '@engram/server';
import { expect, test } from 'vitest';
import { ConfigFiles, configOf } from './config-files.ts';

const files = new ConfigFiles();
const { certFile } = files;

test('a configuration file is in the keys of etcd, and all else is ignored beside it', async () => {
  const file = files.fileOf(`
name: filed
data-dir: /var/lib/engram
listen-client-urls: https://10.0.0.1:2379,https://127.0.0.1:2379
advertise-client-urls: https://10.0.0.1:2379
listen-metrics-urls: http://127.0.0.1:2381
initial-cluster: filed=https://10.0.0.1:2380
auto-compaction-mode: revision
auto-compaction-retention: "1000"
watch-progress-notify-interval: 5000000000
warning-apply-duration: 200ms
quota-backend-bytes: 8589934592
pre-vote: true
log-outputs: [stderr, /var/log/engram]
cipher-suites: [TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256]
feature-gates: InitialCorruptCheck=true
client-transport-security:
  cert-file: ${certFile}
  key-file: ${certFile}
  client-cert-auth: true
  trusted-ca-file: ${certFile}
  allowed-hostname: [a.example, " b, c"]
peer-transport-security:
  cert-file: ${certFile}
  allowed-cn: [b]
something-new: 1
`);
  const config = await configOf(['--config-file', file, '--name=ignored', '--max-txn-ops=7'], { ETCD_NAME: 'ignored' });
  expect(config).toMatchObject({
    name: 'filed',
    dataDir: '/var/lib/engram',
    maxTxnOps: 128,
    watchProgressIntervalMs: 5000,
    slowCommitMs: 200,
    quotaBytes: 8589934592,
    compaction: { mode: 'revision', revisions: 1000 },
    log: { outputs: ['stderr', '/var/log/engram'] },
    tls: {
      certFile,
      keyFile: certFile,
      trustedCaFile: certFile,
      clientCertAuth: true,
      allowedCommonNames: [],
      allowedHostnames: ['a.example', ' b, c'],
      cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
    },
    warnings: [
      `unknown key something-new in ${file}`,
      'flags without effect on a node that is alone: --peer-cert-file --peer-cert-allowed-cn',
    ],
  });
  expect(config.featureGates.get('InitialCorruptCheck')).toBe(true);
});

test('the file may be named by the environment, and listening needs no advertising there', async () => {
  const config = await configOf([], {
    ETCD_CONFIG_FILE: files.fileOf('listen-client-urls: http://127.0.0.1:1\nname:\n'),
  });
  expect(config).toMatchObject({ name: 'default', listenClientUrls: [{ port: 1 }] });
});

test.each([
  { yaml: 'name: [a', says: 'cannot read the configuration file' },
  { yaml: '- a', says: 'is no map of keys to values' },
  { yaml: 'max-txn-ops: many', says: 'invalid value "many" of max-txn-ops' },
  { yaml: 'name: {a: 1}', says: 'invalid value of name' },
  { yaml: 'pre-vote: perhaps', says: 'invalid value "perhaps" of pre-vote' },
  { yaml: 'discovery-config: {endpoints: [http://127.0.0.1:1]}', says: 'discovery-config in' },
  { yaml: 'discovery-config: {client: {endpoints: [http://127.0.0.1:1]}}', says: 'discovery-config in' },
  {
    yaml: 'discovery-config: {token: abc}',
    says: 'is not supported: no discovery service is asked. Name the members by',
  },
  { yaml: 'client-transport-security: 1', says: 'client-transport-security is no map' },
])('a file that says $yaml is refused', async ({ yaml, says }) => {
  await expect(readConfiguration(['--config-file', files.fileOf(yaml)], {})).rejects.toThrow(says);
});

test('a file may say yes and no as YAML 1.1 does, and have an empty block of discovery', async () => {
  const text = 'client-transport-security: {auto-tls: yes}\nname: no\ndiscovery-config: {token: "", endpoints: []}\n';
  const { name, tls } = await configOf(['--config-file', files.fileOf(text)]);
  // etcd's parser makes a boolean of "no", and a text of the boolean.
  expect([name, tls !== undefined]).toEqual(['false', true]);
});

test('a file that is not there is refused', async () => {
  await expect(readConfiguration(['--config-file', join(files.folder, 'none')], {})).rejects.toThrow(
    'cannot read the configuration file',
  );
});

test('keys may have any case, also in blocks', async () => {
  const text = 'Listen-Client-Urls: https://127.0.0.1:1\nCLIENT-transport-security: {Auto-TLS: true}\n';
  const config = await configOf(['--config-file', files.fileOf(text)]);
  expect(config).toMatchObject({ listenClientUrls: [{ port: 1 }], tls: { kind: 'auto' }, warnings: [] });
});

test('the first of several documents counts, and the last of equal keys', async () => {
  const text = 'name: a\nname: b\n---\nname: [c\n';
  expect((await configOf(['--config-file', files.fileOf(text)])).name).toBe('b');
});

test("numbers are as in Go's YAML, and beyond 2^53", async () => {
  const text =
    'max-txn-ops: 010\nmax-request-bytes: 1_000\nquota-backend-bytes: 9223372036854775807\nsnapshot-count: 18446744073709551615\n';
  expect(await configOf(['--config-file', files.fileOf(text)])).toMatchObject({
    maxTxnOps: 8,
    maxRequestBytes: 1000,
    quotaBytes: Number.MAX_SAFE_INTEGER,
  });
});

test.each([
  'client-transport-security: {allowed-cns: [a]}',
  'client-transport-security: {crl-file: a}',
  'peer-transport-security: {something: a}',
  'client-transport-securty: {allowed-cn: [a]}',
  'allowed-cn: [a]',
])('%s is not understood and may be meant to restrict: refused', async (yaml) => {
  await expect(configOf(['--config-file', files.fileOf(yaml)])).rejects.toThrow(/^unknown key .*meant to restrict/);
});

test('CommonNames and hostnames of clients are one list or the other', async () => {
  const file = files.fileOf(
    `client-transport-security: {cert-file: ${certFile}, key-file: ${certFile}, client-cert-auth: true, allowed-cn: [a], allowed-hostname: [b, c]}`,
  );
  await expect(configOf(['--config-file', file])).rejects.toThrow(
    'AllowedCNs and AllowedHostnames are mutually exclusive (cns=["a"], hostnames=["b" "c"])',
  );
});

test('of both blocks every key of etcd is understood', async () => {
  const keys = ['cert-file', 'key-file', 'client-cert-file', 'client-key-file', 'trusted-ca-file'];
  const block = `{${keys.map((key) => `${key}: ${certFile}`).join(', ')}, client-cert-auth: true, auto-tls: false, skip-client-san-verification: true, allowed-cn: [a]}`;
  const text = `storage: tikv\ntikv-pd-endpoints: [127.0.0.1:1]\nlisten-peer-urls: https://127.0.0.1:1\nclient-transport-security: ${block}\npeer-transport-security: ${block}\n`;
  const { tls, cluster } = await configOf(['--config-file', files.fileOf(text)]);
  expect(tls).toMatchObject({ allowedCommonNames: ['a'] });
  expect(cluster?.peerTls).toMatchObject({ allowedCommonNames: ['a'] });
});
