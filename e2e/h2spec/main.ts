/**
 * Runs h2spec against one process of the store, in plain text and over TLS. See README.md.
 *
 *   main.ts <folder> <judge>
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { stillHeld } from '../support/nothing-held.ts';

const [folder = '.', judge = 'judge'] = process.argv.slice(2);
const place = await newStorePlace(join(folder, 'data'));
const tlsPort = await freePort();
const urls = `http://127.0.0.1:${place.clientPort},https://127.0.0.1:${tlsPort}`;
await using store = await StoreProcess.start(place, {
  flags: ['--auto-tls', `--listen-client-urls=${urls}`, `--advertise-client-urls=${urls}`],
});
endOnSignals();

/** Runs h2spec and counts the results. A run without its last line has failed. */
async function run(what: string, flags: readonly string[]): Promise<{ passed: number; failed: number }> {
  const child = spawn(judge, flags, { stdio: ['ignore', 'pipe', 'inherit'] });
  let counted: { passed: number; failed: number } | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    const [, passed, failed] = /^(\d+) passed, (\d+) failed$/.exec(line) ?? [];
    if (passed === undefined) console.log(line);
    else counted = { passed: Number(passed), failed: Number(failed) };
  }
  console.log(`${what}: ${counted === undefined ? 'no result' : `${counted.passed} passed, ${counted.failed} failed`}`);
  return counted ?? { passed: 0, failed: 1 };
}

const plain = await run('plain text', ['-port', String(place.clientPort)]);
const secure = await run('TLS', ['-port', String(tlsPort), '-tls']);
const held = store.running ? await stillHeld(store.endpoint) : [];
if (held.length > 0) console.log(`held for calls that have ended: ${held.join(', ')}`);
const failed = plain.failed + secure.failed + (store.running ? 0 : 1) + held.length;
if (!store.running) console.log(`the store has ended:\n${store.output}`);
if (failed > 0) process.exitCode = 1;
console.log(`e2e-h2spec: ${plain.passed + secure.passed} passed, ${failed} failed`);
