/**
 * Runs the checks of each stack's client against one process of the store. See README.md.
 *
 *   main.ts <folder> <stack>=<command> ...
 *
 * A client prints `ok <check>` or `FAILED <check>: <why>` for each of CHECKS. A check that it does not print has
 * failed.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { issue } from '@engram/transport/testing';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { haveUsers } from '../support/have-users.ts';

const CHECKS = [
  'kv',
  'range',
  'txn',
  'delete',
  'watch',
  'lease',
  'lock',
  'election',
  'users',
  'deadline',
  'cancel',
  'large-request',
  'large-answer',
  'too-large',
  'errors',
  'metadata',
  'gzip',
  'parallel',
  'tls',
] as const;
/** Checks that one stack makes besides. */
const BESIDES: Readonly<Record<string, readonly string[]>> = {
  go: ['leasing', 'mirror', 'namespace', 'ordering', 'naming', 'reflection'],
};
const CLIENT_MAX_MS = 120_000;

const nameOf = (stack: string): string => stack.slice(0, stack.indexOf('='));
const [folder = '.', ...stacks] = process.argv.slice(2);
const ca = issue('interop ca');
const server = issue('interop server', ca);
const files = { 'ca.pem': ca.certificate, 'server.pem': server.certificate, 'server-key.pem': server.key } as const;
const file = (name: keyof typeof files): string => join(folder, name);
await Promise.all(Object.entries(files).map(([name, content]) => writeFile(join(folder, name), content)));

const place = await newStorePlace(join(folder, 'data'));
const tlsPort = await freePort();
const urls = `http://127.0.0.1:${place.clientPort},https://127.0.0.1:${tlsPort}`;
await using store = await StoreProcess.start(place, {
  flags: [
    `--cert-file=${file('server.pem')}`,
    `--key-file=${file('server-key.pem')}`,
    `--listen-client-urls=${urls}`,
    `--advertise-client-urls=${urls}`,
  ],
});
endOnSignals();
/** One that has users: for each stack one of its name, who may do what it likes below /interop/<stack>/. */
await using guarded = await StoreProcess.start(await newStorePlace(join(folder, 'guarded')));
const passwordOf = (name: string): string => `the password of ${name}`;
await haveUsers(guarded.endpoint, [
  { name: 'root', password: passwordOf('root'), prefix: undefined },
  ...stacks.map(nameOf).map((name) => ({ name, password: passwordOf(name), prefix: `/interop/${name}/` })),
]);

const environment = {
  ...process.env,
  ENDPOINT: store.endpoint,
  TLS_ENDPOINT: `localhost:${tlsPort}`,
  CA_FILE: file('ca.pem'),
  USERS_ENDPOINT: guarded.endpoint,
};

/** The names of the checks that passed. Empty if the client itself failed. */
async function run(stack: string, command: string): Promise<ReadonlySet<string>> {
  const passed = new Set<string>();
  const [program, ...args] = command.split(' ');
  if (program === undefined || program === '') return passed;
  const env = { ...environment, USER_NAME: stack, PASSWORD: passwordOf(stack) };
  const client = spawn(program, args, { env, stdio: ['ignore', 'pipe', 'pipe'], timeout: CLIENT_MAX_MS });
  client.once('error', (error) => console.log(`${stack}: ${error.message}`));
  client.stderr
    .resume()
    .setEncoding('utf8')
    .on('data', (text: string) => process.stderr.write(text));
  for await (const line of createInterface({ input: client.stdout })) {
    const [, check] = /^ok ([a-z-]+)$/.exec(line) ?? [];
    if (check === undefined) console.log(`${stack}: ${line}`);
    else passed.add(check);
  }
  if (client.exitCode === null && client.signalCode === null) await once(client, 'exit');
  if (client.exitCode === 0) return passed;
  console.log(`${stack}: ended with ${client.exitCode ?? client.signalCode}`);
  return new Set();
}

let passed = 0;
let failed = 0;
for (const stack of stacks) {
  const name = nameOf(stack);
  const startMs = performance.now();
  const ok = await run(name, stack.slice(name.length + 1));
  const checks = [...CHECKS, ...(BESIDES[name] ?? [])];
  const missing = checks.filter((check) => !ok.has(check));
  passed += checks.length - missing.length;
  failed += missing.length;
  const seconds = ((performance.now() - startMs) / 1000).toFixed(1);
  console.log(`${name}: ${checks.length - missing.length} of ${checks.length} in ${seconds} s`);
  if (missing.length > 0) console.log(`${name}: not passed: ${missing.join(', ')}`);
}
for (const one of [store, guarded]) {
  if (!one.running) {
    failed += 1;
    console.log(`the store has ended:\n${one.output}`);
  }
  const held = one.running ? await stillHeld(one.endpoint) : [];
  failed += held.length;
  if (held.length > 0) console.log(`held for calls that have ended: ${held.join(', ')}`);
}
if (failed > 0 || passed === 0) process.exitCode = 1;
console.log(`e2e-interop: ${passed} passed, ${failed} failed`);
