import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect as connectPlainly, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newStorePlace, type StorePlace, storeCommand } from '../../test/support/store-process.ts';
import type { Judge } from './judge.ts';
import { STORES } from './stores.ts';

const OUTCOME_MAX_MS = 20_000;
const POLL_MS = 30;

/** What a start is given. The texts may name CLIENT and PEER, the URLs of the place, and DIR, its folder. */
interface Start {
  readonly what: string;
  readonly flags?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  /** A configuration file. Flags are then ignored, by both programs. */
  readonly file?: string;
  /** Why the store may do otherwise. */
  readonly known?: string;
}

const usual = [
  '--data-dir=DIR/data',
  '--listen-client-urls=CLIENT',
  '--advertise-client-urls=CLIENT',
  '--listen-peer-urls=PEER',
  '--initial-advertise-peer-urls=PEER',
  '--initial-cluster=default=PEER',
] as const;
const urls = usual.map((flag) => flag.replace(/^--([^=]+)=/, '$1: ')).join('\n');
const without = (...names: readonly string[]): string[] =>
  usual.filter((flag) => !names.some((name) => flag.startsWith(`--${name}=`)));

const withFlags = (...flags: readonly string[]): Start => ({ what: flags.join(' '), flags: [...usual, ...flags] });
const withFile = (text: string): Start => ({ what: `a file with ${text}`, file: `${urls}\n${text}\n` });
const withVariable = (name: string, value: string): Start => ({
  what: `${name}=${value}`,
  flags: usual,
  environment: { [name]: value },
});

const STRICTER = 'what may be meant to restrict and is not understood ends the start';
const PANIC = 'etcd ends by a panic';

const STARTS: readonly Start[] = [
  ...['INFO', 'Warning', 'dpanic', ''].map((level) => withFlags(`--log-level=${level}`)),
  withFile('log-level: Warn'),
  withFile('log-level: ""'),
  { ...withFlags('--log-level=loud'), known: PANIC },
  withFlags('--log-format='),
  withFlags('--log-format=xml'),
  withFlags('--snapshot-count=18446744073709551615', '--max-txn-ops=18446744073709551615'),
  withFlags('--snapshot-count=18446744073709551616'),
  withFlags('--max-txn-ops=010'),
  withFlags('--max-txn-ops=08'),
  withFlags('--quota-backend-bytes=9223372036854775808'),
  withFlags('--max-concurrent-streams=4294967296'),
  withFlags('--metrics=none'),
  withFlags('--metrics=Basic'),
  withFlags('--auto-compaction-mode=revision', '--auto-compaction-retention=1h'),
  withFlags('--auto-compaction-retention=soon'),
  withFlags('--feature-gates=Nothing=true'),
  withFlags('--initial-cluster-state=old'),
  withFlags('--discovery-fallback=proxy'),
  withFlags('--v2-deprecation=never'),
  withVariable('ETCD_FEATURE_GATES', 'Nothing=true'),
  withVariable('ETCD_LOG_LEVEL', 'ERROR'),
  withVariable('ETCD_SOMETHING', 'else'),
  { ...withVariable('ETCD_CLIENT_CERT_ALLOWED_CN', 'good'), known: STRICTER },
  withFile('---\nname: [b'),
  withFile('strict-reconfig-check: y\npre-vote: n'),
  withFile('pre-vote: yEs'),
  withFile('unknown: 1'),
  withFile('max-txn-ops: 0x10\nsnapshot-count: 1_000'),
  withFile('max-txn-ops: 10\nmax-txn-ops: 20'),
  { ...withFile('log-outputs: stderr'), known: 'a text where a list is needed is a list of one' },
  withFile('feature-gates: Nothing=true'),
  { ...withFile('client-transport-security: {allowed-cns: [good]}'), known: STRICTER },
  withFile('client-transport-security: {skip-client-san-verification: true}'),
  { what: 'keys in another case', file: `${urls}\n`.replace('listen-client-urls', 'Listen-Client-Urls') },
  { what: 'a scheme in capitals', flags: [...without('listen-client-urls'), '--listen-client-urls=HTTPCLIENT'] },
  {
    what: 'other URLs in --initial-cluster than advertised',
    flags: [...without('initial-cluster'), '--initial-cluster=default=http://127.0.0.1:1'],
  },
  {
    what: 'fewer URLs in --initial-cluster than advertised',
    flags: [...without('initial-advertise-peer-urls'), '--initial-advertise-peer-urls=PEER,http://127.0.0.1:1'],
  },
  {
    what: 'more URLs in --initial-cluster than advertised',
    flags: [...without('initial-cluster'), '--initial-cluster=default=PEER,default=http://127.0.0.1:1'],
  },
  {
    what: 'a name that resolves to the advertised address',
    flags: [...without('initial-cluster'), '--initial-cluster=default=LOCALPEER'],
  },
  {
    what: 'another name in --initial-cluster',
    flags: [...without('initial-cluster'), '--initial-cluster=other=PEER'],
  },
  withFlags('--cipher-suites=TLS_ROT13'),
  withFlags('--cipher-suites=TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256'),
  withFlags('--tls-min-version=TLS1.3', '--cipher-suites=TLS_ROT13'),
  withFlags('--compact-hash-check-time=0s'),
  withFlags('--discovery-token=x'),
  withFlags('--data-dir=/proc/engram'),
];

/** Which starts succeed, and with what code the others end. */
export async function startPart(judge: Judge, etcd: string, folder: string): Promise<void> {
  const commands = [[etcd], storeCommand()];
  for (const [number, start] of STARTS.entries()) {
    const outcomes = await Promise.all(
      STORES.map(async (name, store) => {
        const own = join(folder, `start-${number}`, name);
        return outcomeOf(commands[store]!, start, await newStorePlace(join(own, 'data')), own);
      }),
    );
    if (start.known === undefined) judge.equal(start.what, outcomes[0], outcomes[1]);
    else judge.known(`${start.what} (${start.known})`, outcomes[0], outcomes[1]);
  }
}

async function outcomeOf(command: readonly string[], start: Start, place: StorePlace, folder: string): Promise<string> {
  mkdirSync(folder, { recursive: true });
  const filled = (text: string): string =>
    text
      .replaceAll('HTTPCLIENT', `HTTP://127.0.0.1:${place.clientPort}`)
      .replaceAll('LOCALPEER', `http://localhost:${place.peerPort}`)
      .replaceAll('CLIENT', `http://127.0.0.1:${place.clientPort}`)
      .replaceAll('PEER', `http://127.0.0.1:${place.peerPort}`)
      .replaceAll('DIR', folder);
  const file = join(folder, 'config.yaml');
  if (start.file !== undefined) writeFileSync(file, filled(start.file));
  const flags = start.file === undefined ? (start.flags ?? []).map(filled) : [`--config-file=${file}`];
  const [program, ...args] = command;
  const child = spawn(program!, [...args, ...flags], {
    cwd: folder,
    stdio: 'ignore',
    env: { ...process.env, ...start.environment },
  });
  const ended = new Promise<string>((resolve) => {
    child.once('exit', (code, signal) => resolve(`ends with ${code ?? signal}`));
  });
  const watching = new AbortController();
  try {
    return await Promise.race([ended, answers(place.clientPort, watching.signal)]);
  } finally {
    watching.abort();
    child.kill('SIGKILL');
    await ended;
  }
}

/** Resolves when the port answers HTTP, or with 'neither' at the bound. */
async function answers(port: number, signal: AbortSignal): Promise<string> {
  for (const endMs = Date.now() + OUTCOME_MAX_MS; Date.now() < endMs && !signal.aborted; await sleep(POLL_MS)) {
    if ((await textFrom(connectPlainly(port, '127.0.0.1'), '/version')).startsWith('HTTP/1.1 200')) return 'serves';
  }
  return 'neither serves nor ends';
}

/** The answer to a GET on a new connection; empty if there is none. */
export async function textFrom(socket: Socket, path: string): Promise<string> {
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n`);
  let text = '';
  socket.setEncoding('utf8').on('data', (part: string) => (text += part));
  await new Promise((resolve) => socket.on('close', resolve));
  return text;
}
