import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect } from 'node:tls';
import { certificateCases, issue, revocationListDer } from '@engram/transport/testing';
import { newStorePlace, StoreProcess, storeCommand } from '../../test/support/store-process.ts';
import type { Judge } from './judge.ts';
import { textFrom } from './start-part.ts';
import { STORES } from './stores.ts';

interface Client {
  readonly what: string;
  readonly certificates?: string;
  readonly key?: string;
  /** Why the store may refuse a client that etcd serves. */
  readonly stricter?: string;
}

interface Restriction {
  readonly what: string;
  readonly trusted: string;
  readonly revoked?: Buffer;
  /** Flags, where FOLDER is that of the certificates. */
  readonly flags?: readonly string[];
  /** What a configuration file has in the security block beside the files. */
  readonly block?: string;
  readonly clients: readonly Client[];
}

const { root, cases } = certificateCases();
const server = issue('server', root);

/** Every setting of etcd that restricts which clients are served. */
function restrictions(): readonly Restriction[] {
  const clientOf = (what: string, ...commonNames: readonly string[]): Client => {
    const { certificate: certificates, key } = issue('', root, { commonNames, names: [`${what}.example`] });
    return { what, certificates, key };
  };
  const other = issue('good', issue('another root'));
  const revoked = issue('revoked', root);
  const clients: readonly Client[] = [
    clientOf('good', 'good'),
    clientOf('evil', 'evil'),
    clientOf('both', 'good', 'evil'),
    clientOf('reversed', 'evil', 'good'),
    clientOf('nameless'),
    { what: 'stranger', certificates: other.certificate, key: other.key },
    { what: 'revoked', certificates: revoked.certificate, key: revoked.key },
    { what: 'none' },
  ];
  const trusted = root.certificate;
  const list = revocationListDer(root, [revoked]);
  const one = (what: string, more: Partial<Restriction>): Restriction => ({ what, trusted, clients, ...more });
  return [
    one('client-cert-auth', { flags: ['--client-cert-auth', '--trusted-ca-file=FOLDER/ca.pem'] }),
    one('trusted-ca-file', { flags: ['--trusted-ca-file=FOLDER/ca.pem'] }),
    one('client-crl-file', {
      revoked: list,
      flags: ['--trusted-ca-file=FOLDER/ca.pem', '--client-crl-file=FOLDER/crl.der'],
    }),
    one('client-cert-allowed-hostname', {
      flags: ['--trusted-ca-file=FOLDER/ca.pem', '--client-cert-allowed-hostname=good.example,reversed.example'],
    }),
    one('no allowed hostname', {
      flags: ['--trusted-ca-file=FOLDER/ca.pem', '--client-cert-allowed-hostname='],
    }),
    one('client-cert-auth in a file', { block: 'trusted-ca-file: FOLDER/ca.pem, client-cert-auth: true' }),
    one('allowed-cn in a file', { block: 'trusted-ca-file: FOLDER/ca.pem, allowed-cn: [good, " evil"]' }),
    one('an empty allowed-cn in a file', { block: 'trusted-ca-file: FOLDER/ca.pem, allowed-cn: [""]' }),
    one('allowed-hostname in a file', { block: 'trusted-ca-file: FOLDER/ca.pem, allowed-hostname: [good.example]' }),
    ...cases.map(
      ({ what, certificates, key, revoked: crl, trusted: pem, stricter }): Restriction => ({
        what,
        trusted: pem,
        ...(crl === undefined ? {} : { revoked: crl }),
        flags: [
          '--client-cert-auth',
          '--trusted-ca-file=FOLDER/ca.pem',
          ...(crl === undefined ? [] : ['--client-crl-file=FOLDER/crl.der']),
        ],
        clients: [{ what: 'the client', certificates, key, ...(stricter === undefined ? {} : { stricter }) }],
      }),
    ),
  ];
}

/** Which certificates of clients are served, for every setting that restricts them. */
export async function certificatePart(judge: Judge, etcd: string, folder: string): Promise<void> {
  const commands = [[etcd], storeCommand()];
  for (const [number, restriction] of restrictions().entries()) {
    const outcomes = await Promise.all(
      STORES.map((name, store) => served(commands[store]!, restriction, join(folder, `certificates-${number}`, name))),
    );
    for (const [at, { what, stricter }] of restriction.clients.entries()) {
      const [ofEtcd, ofStore] = outcomes.map((outcome) => outcome[at]);
      const label = `${restriction.what}: ${what}`;
      if (stricter === undefined || ofStore !== 'refused') judge.equal(label, ofEtcd, ofStore);
      else judge.known(`${label} (${stricter})`, ofEtcd, ofStore);
    }
  }
}

async function served(
  command: readonly string[],
  { trusted, revoked, flags, block, clients }: Restriction,
  folder: string,
): Promise<readonly string[]> {
  mkdirSync(folder, { recursive: true });
  const file = (name: string, content: string | Buffer): string => {
    const path = join(folder, name);
    writeFileSync(path, content);
    return path;
  };
  const [cert, key] = [file('cert.pem', server.certificate), file('key.pem', server.key)];
  file('ca.pem', trusted);
  if (revoked !== undefined) file('crl.der', revoked);
  const place = await newStorePlace(join(folder, 'data'));
  const url = `https://127.0.0.1:${place.clientPort}`;
  const peer = `http://127.0.0.1:${place.peerPort}`;
  const own =
    block === undefined
      ? [
          `--listen-client-urls=${url}`,
          `--advertise-client-urls=${url}`,
          `--cert-file=${cert}`,
          `--key-file=${key}`,
          ...(flags ?? []).map((flag) => flag.replace('FOLDER', folder)),
        ]
      : [
          `--config-file=${file(
            'config.yaml',
            [
              `data-dir: ${place.dataDir}`,
              `listen-client-urls: ${url}`,
              `advertise-client-urls: ${url}`,
              `listen-peer-urls: ${peer}`,
              `initial-advertise-peer-urls: ${peer}`,
              `initial-cluster: default=${peer}`,
              `client-transport-security: {cert-file: ${cert}, key-file: ${key}, ${block.replace('FOLDER', folder)}}`,
            ].join('\n'),
          )}`,
        ];
  await using store = await StoreProcess.start(place, { command, flags: own });
  const outcomes: string[] = [];
  for (const { certificates, key: clientKey } of clients) {
    const socket = connect({
      host: '127.0.0.1',
      port: place.clientPort,
      rejectUnauthorized: false, // with a `ca`, OpenSSL would send more certificates than it was given
      cert: certificates,
      key: clientKey,
      ciphers: 'DEFAULT@SECLEVEL=0', // also shows a weak key
      ALPNProtocols: ['http/1.1'],
    });
    const text = await textFrom(socket, '/version');
    outcomes.push(text.startsWith('HTTP/1.1 200') ? 'served' : 'refused');
  }
  if (!store.running) throw new Error(`the store has ended:\n${store.output}`);
  return outcomes;
}
