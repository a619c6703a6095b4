import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { Client, credentials } from '@grpc/grpc-js';
import { quiet } from '@engram/sim';
import { readConfiguration, startNode } from '@engram/server';
import { type Identity, issue, revocationList } from '@engram/transport/testing';
import { afterAll, expect, test } from 'vitest';

/* Each setting of etcd that restricts which clients are served, with a certificate that it must refuse. */

const folder = mkdtempSync(join(tmpdir(), 'engram-restrictions-'));
afterAll(() => rmSync(folder, { recursive: true }));

const ca = issue('ca');
const server = issue('server', ca);
const good = issue('good', ca, { names: ['good.example'] });
const other = issue('other', ca, { names: ['other.example'] });
const stranger = issue('good', issue('another ca'), { names: ['good.example'] });

const files: Readonly<Record<string, string>> = {
  ca: ca.certificate,
  cert: server.certificate,
  key: server.key,
  crl: revocationList(ca, [other]),
};
const file = (name: string): string => join(folder, name);
for (const [name, content] of Object.entries(files)) writeFileSync(file(name), content);

const ports = 'listen-client-urls: https://127.0.0.1:0\nadvertise-client-urls: https://127.0.0.1:0\nstorage: memory\n';
const block = (more: string): string =>
  `${ports}client-transport-security: {cert-file: ${file('cert')}, key-file: ${file('key')}${more}}\n`;
const flags = (...more: readonly string[]): readonly string[] => [
  '--listen-client-urls=https://127.0.0.1:0',
  '--advertise-client-urls=https://127.0.0.1:0',
  '--storage=memory',
  `--cert-file=${file('cert')}`,
  `--key-file=${file('key')}`,
  `--trusted-ca-file=${file('ca')}`,
  ...more,
];
const inFile = (more: string): readonly string[] => {
  const path = file(`${more.replaceAll(/\W/g, '')}.yaml`);
  writeFileSync(path, block(more));
  return ['--config-file', path];
};
const withCa = `, trusted-ca-file: ${file('ca')}`;

async function nodeWith(args: readonly string[]): ReturnType<typeof startNode> {
  const configuration = await readConfiguration(args, {});
  if (configuration.kind !== 'config') throw new Error(JSON.stringify(configuration));
  const onFatal = (error: Error): never => {
    throw error;
  };
  return startNode({ config: configuration.config, logger: quiet, onFatal, onRemoved: () => {} });
}

const portsOf = (node: Awaited<ReturnType<typeof nodeWith>>): readonly number[] =>
  node.listeners.map(({ address }) => (address.kind === 'tcp' ? address.port : 0));

/** Whether the node answers a client with this certificate, or without one. */
async function answers(args: readonly string[], identity: Identity | undefined): Promise<boolean> {
  await using node = await nodeWith(args);
  return await answersAt(portsOf(node)[0]!, identity);
}

async function answersAt(port: number, identity: Identity | undefined, path = '/version'): Promise<boolean> {
  const { certificate: cert, key } = identity ?? {};
  const socket = connect({ host: '127.0.0.1', port, ca: ca.certificate, cert, key });
  socket.on('error', () => {});
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  await new Promise((resolve) => socket.on('close', resolve));
  return text.startsWith('HTTP/1.1 200');
}

test.each([
  { setting: 'client-cert-auth', args: inFile(`${withCa}, client-cert-auth: true`), refused: undefined },
  { setting: 'trusted-ca-file', args: inFile(withCa), refused: stranger },
  { setting: 'allowed-cn', args: inFile(`${withCa}, allowed-cn: [good, fine]`), refused: other },
  { setting: 'allowed-hostname', args: inFile(`${withCa}, allowed-hostname: [good.example]`), refused: other },
  { setting: '--client-cert-auth', args: flags('--client-cert-auth'), refused: undefined },
  { setting: '--trusted-ca-file', args: flags(), refused: stranger },
  {
    setting: '--client-cert-allowed-hostname',
    args: flags('--client-cert-allowed-hostname=good.example'),
    refused: other,
  },
  { setting: '--client-crl-file', args: flags(`--client-crl-file=${file('crl')}`), refused: other },
])('$setting refuses whom it does not allow', async ({ args, refused }) => {
  expect(await answers(args, good)).toBe(true);
  expect(await answers(args, refused)).toBe(false);
});

/** Whether gRPC's health service says that it serves. */
async function serves(port: number, identity: Identity): Promise<boolean> {
  const client = new Client(
    `127.0.0.1:${port}`,
    credentials.createSsl(Buffer.from(ca.certificate), Buffer.from(identity.key), Buffer.from(identity.certificate)),
    { 'grpc.use_local_subchannel_pool': 1 },
  );
  const same = (bytes: Buffer): Buffer => bytes;
  try {
    return await new Promise((resolve) => {
      const deadline = Date.now() + 10_000;
      client.makeUnaryRequest('/grpc.health.v1.Health/Check', same, same, Buffer.alloc(0), { deadline }, (error) =>
        resolve(error === null),
      );
    });
  } finally {
    client.close();
  }
}

test('what restricts clients counts on every listener and for every protocol, also where HTTP has URLs of its own', async () => {
  await using node = await nodeWith(
    flags(
      `--client-crl-file=${file('crl')}`,
      '--client-cert-allowed-hostname=good.example,other.example',
      '--listen-client-http-urls=https://127.0.0.1:0',
      '--listen-metrics-urls=https://127.0.0.1:0',
    ),
  );
  const [metrics, grpc, client] = portsOf(node);
  expect(node.listeners.map(({ purpose }) => purpose)).toEqual(['metrics', 'client', 'client']);
  expect([await serves(grpc!, good), await serves(grpc!, other)]).toEqual([true, false]);
  const healthy = (port: number, identity: Identity | undefined): Promise<boolean> =>
    answersAt(port, identity, '/health');
  for (const port of [metrics!, client!]) {
    expect([await healthy(port, good), await healthy(port, other), await healthy(port, undefined)]).toEqual([
      true,
      false,
      false,
    ]);
  }
});
