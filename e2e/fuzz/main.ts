/**
 * Sends random and mutated bytes to the parsers, to the members of a cluster and to a process, for a while. See README.md.
 *
 *   FUZZ_SECONDS=60 SEED=1 main.ts <folder for data> <folder for findings>
 *   FUZZ_REPLAY=<folder of findings> main.ts ...   only these inputs, repeatedly
 */
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { corpus, type Finding, inputsOf, save } from './finding.ts';
import { fuzzNode, replayOnNode } from './node-fuzz.ts';
import { fuzzParsers } from './parser-fuzz.ts';
import { fuzzPeers } from './peer-fuzz.ts';

const [folder = '.', findingsFolder = 'findings'] = process.argv.slice(2);
const seconds = Number(process.env['FUZZ_SECONDS'] || 60);
const seed = Number(process.env['SEED'] || Math.floor(Math.random() * 2 ** 32));
const MiB = 1024 * 1024;
const MEMORY_MAX_BYTES = 384 * MiB;
/** The process gets half of the time: it has more states, and each script takes longer. */
const PARSER_SHARE = 1 / 3;
const PEER_SHARE = 1 / 6;

console.log(`fuzzing for ${seconds} s, SEED=${seed}`);
const replayed = process.env['FUZZ_REPLAY'];
const saved = replayed ? inputsOf(replayed) : corpus();
let failed = 0;
let passed = 0;

function judge(what: string, findings: readonly Finding[]): void {
  if (findings.length === 0) passed += 1;
  else failed += 1;
  for (const finding of findings) {
    console.log(`${finding.target}: ${finding.what}\n  ${save(findingsFolder, finding)}`);
  }
  console.log(`${what}: ${findings.length} findings`);
}

const parserSeconds = replayed ? 0 : seconds * PARSER_SHARE;
const parsed = await fuzzParsers(seed, performance.now() + 1000 * parserSeconds, saved);
judge(`parsers: ${parsed.inputs} inputs, ${parsed.blocks} blocks of code`, parsed.findings);

const peerSeconds = replayed ? 0 : seconds * PEER_SHARE;
if (peerSeconds > 0) {
  const peers = await fuzzPeers(seed, peerSeconds);
  judge(`peers: ${peers.attacks} connections`, peers.findings);
}

const place = await newStorePlace(join(folder, 'data'));
const securePort = await freePort();
const urls = `http://127.0.0.1:${place.clientPort},https://127.0.0.1:${securePort}`;
await using store = await StoreProcess.start(place, {
  flags: [
    '--auto-tls',
    `--listen-client-urls=${urls}`,
    `--advertise-client-urls=${urls}`,
    `--memory-limit=${MEMORY_MAX_BYTES}`,
    `--quota-backend-bytes=${64 * MiB}`,
    '--loop-budget-cpu',
  ],
});
process.once('exit', () => {
  if (store.running) process.kill(store.pid, 'SIGKILL');
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const endMs = performance.now() + 1000 * (seconds - parserSeconds - peerSeconds);
const fuzz = replayed ? replayOnNode : fuzzNode;
const node = await fuzz(store, securePort, seed, endMs, saved, {
  memoryMaxBytes: MEMORY_MAX_BYTES,
  scriptMsMax: 400,
  answerMsMax: 5_000,
  stretchMsMax: 100,
});
console.log(
  `longest stretches: ${node.stretches.slice(0, 6).join('; ') || 'none'}; slowest put ${Math.round(node.worstAnswerMs)} ms`,
);
judge(`node: ${node.scripts} scripts, ${node.outcomes} kinds of answers`, node.findings);
if (failed > 0) process.exitCode = 1;
console.log(`e2e-fuzz: ${passed} passed, ${failed} failed`);
