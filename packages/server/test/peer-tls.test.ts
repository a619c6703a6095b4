import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { readConfiguration } from '../src/config/configuration.ts';
import type { NodeConfig } from '../src/config/node-config.ts';
import { peerTlsOf } from '../src/start/peer-tls.ts';

/** Only its existence is checked, not its content. */
const certFile = fileURLToPath(import.meta.url);

async function configOf(args: readonly string[]): Promise<NodeConfig> {
  const configuration = await readConfiguration(args, {});
  if (configuration.kind !== 'config') throw new Error(JSON.stringify(configuration));
  return configuration.config;
}

const files = {
  kind: 'files',
  bounds: { minVersion: 'TLS1.2', cipherSuites: [] },
  served: { certFile: 'served.crt', keyFile: 'served.key' },
  dialed: { certFile: 'dialed.crt', keyFile: 'dialed.key' },
  trustedCaFile: undefined,
  clientCertAuth: false,
  checkDialers: false,
  crlFile: undefined,
  allowedCommonNames: [],
  allowedHostnames: [],
} as const;

test('all that restricts who is a member counts', () => {
  const restricted = {
    trustedCaFile: 'ca.crt',
    clientCertAuth: true,
    crlFile: 'list.crl',
    allowedCommonNames: ['a'],
    allowedHostnames: ['h'],
  };
  expect(peerTlsOf({ ...files, ...restricted, checkDialers: true }, 'unused', [])).toMatchObject({
    served: { ...files.served, ...restricted },
    dialed: files.dialed,
    selfSigned: false,
    checkDialers: true,
  });
});

test('without restrictions nobody is asked for a certificate', () => {
  const { served } = peerTlsOf(files, 'unused', []);
  expect(served).toMatchObject({ clientCertAuth: false, allowedCommonNames: [], allowedHostnames: [] });
  expect('trustedCaFile' in served || 'crlFile' in served).toBe(false);
});

test("whose certificate is a member's may be restricted, by one list of names", async () => {
  const secure = [
    '--storage=tikv',
    '--tikv-pd-endpoints=127.0.0.1:1',
    `--peer-cert-file=${certFile}`,
    `--peer-key-file=${certFile}`,
  ];
  const https = '--listen-peer-urls=https://127.0.0.1:1';
  const authority = `--peer-trusted-ca-file=${certFile}`;
  const names = '--peer-cert-allowed-cn=a,b';
  const hosts = '--peer-cert-allowed-hostname=h';
  const list = `--peer-crl-file=${certFile}`;
  expect((await configOf([...secure, https, authority, names, list])).cluster?.peerTls).toMatchObject({
    crlFile: certFile,
    allowedCommonNames: ['a', 'b'],
    allowedHostnames: [],
  });
  expect((await configOf([...secure, https, '--peer-client-cert-auth', hosts])).cluster?.peerTls).toMatchObject({
    crlFile: undefined,
    allowedCommonNames: [],
    allowedHostnames: ['h'],
  });
  await expect(configOf([...secure, https, authority, names, hosts])).rejects.toThrow(
    'AllowedCNs and AllowedHostnames are mutually exclusive (cns=["a" "b"], hostnames=["h"])',
  );
  await expect(configOf([...secure, https, names, list])).rejects.toThrow(
    '--peer-cert-allowed-cn --peer-crl-file: only with --peer-trusted-ca-file or --peer-client-cert-auth',
  );
  await expect(configOf([...secure, authority, hosts])).rejects.toThrow(
    '--peer-cert-allowed-hostname: members that come to http://localhost:2380 show no certificate',
  );
  await expect(configOf([...secure, https, authority, '--peer-crl-file=nowhere'])).rejects.toThrow(
    '--peer-crl-file: cannot read nowhere',
  );
});

test('versions and suites of TLS count between members as with clients, also with --peer-auto-tls', async () => {
  const onTikv = ['--storage=tikv', '--tikv-pd-endpoints=127.0.0.1:1', '--listen-peer-urls=https://127.0.0.1:1'];
  const flags = ['--tls-max-version=TLS1.2', '--cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'];
  const bounds = {
    minVersion: 'TLS1.2',
    maxVersion: 'TLS1.2',
    cipherSuites: ['TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'],
  };
  const pair = [`--peer-cert-file=${certFile}`, `--peer-key-file=${certFile}`];
  const withFiles = (await configOf([...onTikv, ...flags, ...pair])).cluster?.peerTls;
  expect(peerTlsOf(withFiles!, 'unused', []).served).toMatchObject(bounds);
  expect((await configOf([...onTikv, ...flags, '--peer-auto-tls'])).cluster?.peerTls).toMatchObject({ bounds });
  expect((await configOf([...onTikv, ...pair, '--tls-min-version=TLS1.3'])).cluster?.peerTls).toMatchObject({
    bounds: { minVersion: 'TLS1.3', cipherSuites: [] },
  });
});

test('as in etcd, dialers are held against their addresses, unless a flag says otherwise', async () => {
  const args = [
    '--storage=tikv',
    '--tikv-pd-endpoints=127.0.0.1:1',
    `--peer-cert-file=${certFile}`,
    `--peer-key-file=${certFile}`,
    '--listen-peer-urls=https://127.0.0.1:1',
  ];
  const checks = async (...more: string[]): Promise<unknown> => {
    const { cluster } = await configOf([...args, ...more]);
    return cluster?.peerTls?.kind === 'files' && cluster.peerTls.checkDialers;
  };
  expect(await checks()).toBe(false);
  expect(await checks(`--peer-trusted-ca-file=${certFile}`)).toBe(true);
  expect(await checks('--peer-client-cert-auth')).toBe(true);
  expect(await checks('--peer-client-cert-auth', '--peer-skip-client-san-verification')).toBe(false);
});

test('as in etcd, a plain peer URL beside certificates is warned of', async () => {
  const url = 'http://127.0.0.1:1';
  const { warnings } = await configOf([
    '--storage=tikv',
    '--tikv-pd-endpoints=127.0.0.1:1',
    `--peer-cert-file=${certFile}`,
    `--peer-key-file=${certFile}`,
    '--peer-client-cert-auth',
    `--listen-peer-urls=${url}`,
  ]);
  expect(warnings.filter((warning) => warning.endsWith(url))).toEqual([
    `scheme is HTTP while key and cert files are present; ignoring key and cert files: peer ${url}`,
    `scheme is HTTP while --peer-client-cert-auth is enabled; ignoring client cert auth for this URL: peer ${url}`,
  ]);
});
