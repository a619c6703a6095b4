/**
 * Sends random and mutated bytes to the parsers, to the members of a cluster and to a process, for a while. See README.md.
 *
 *   FUZZ_SECONDS=20 FUZZ_KINDS=parsers,peers,node FUZZ_PARSERS=token,crl SEED=1 main.ts <folder for data> <folder for findings>
 *   FUZZ_REPLAY=<folder of findings> main.ts ...   only these inputs, repeatedly, on the node
 */
import { join } from 'node:path';
import { freePort } from '../../test/support/free-port.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { corpus, type Finding, inputsOf, keep, save } from './finding.ts';
import { fuzzNode, replayOnNode } from './node-fuzz.ts';
import { chosenSubjects, fuzzParsers } from './parser-fuzz.ts';
import { fuzzPeers } from './peer-fuzz.ts';

const [folder = '.', findingsFolder = 'findings'] = process.argv.slice(2);
/** Of each kind, and of each parser. Without it the parsers share the time of one kind. */
const secondsEach = Number(process.env['FUZZ_SECONDS'] || Number.NaN);
const seconds = Number.isNaN(secondsEach) ? 20 : secondsEach;
const seed = Number(process.env['SEED'] || Math.floor(Math.random() * 2 ** 32));
const MiB = 1024 * 1024;
const MEMORY_MAX_BYTES = 384 * MiB;

const replayed = process.env['FUZZ_REPLAY'];
const kinds = replayed ? ['node'] : (process.env['FUZZ_KINDS'] || 'parsers,peers,node').split(',');
console.log(`fuzzing ${kinds.join(', ')} for ${seconds} s each, SEED=${seed}`);
/** What earlier runs have kept. The inputs of a run follow from its seed and from this. */
const keptFolder = join(findingsFolder, 'kept');
const saved = replayed ? inputsOf(replayed) : [...corpus(), ...inputsOf(keptFolder)];
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

if (kinds.includes('parsers')) {
  const chosen = chosenSubjects(process.env['FUZZ_PARSERS']?.split(',').filter((name) => name !== ''));
  const ofParser = Number.isNaN(secondsEach) ? seconds / chosen.length : secondsEach;
  for await (const report of fuzzParsers(chosen, seed, ofParser, saved)) {
    const { subject, inputs, blocks, kept, longestMs, grownBytes, findings } = report;
    keep(keptFolder, 'ran code for the first time', kept);
    const counts = `${inputs} inputs, ${blocks} new blocks of code, ${kept.length} kept`;
    const took = `longest ${longestMs.toFixed(1)} ms, grown by ${(grownBytes / MiB).toFixed(1)} MiB`;
    judge(`parser ${subject}: ${counts}, ${took}`, findings);
  }
}

if (kinds.includes('peers')) {
  const { attacks, answers, blocks, kept, findings } = await fuzzPeers(seed, seconds, saved);
  keep(keptFolder, 'was answered in a new way, or ran code for the first time', kept);
  const counts = `${attacks} connections, ${answers} kinds of answers, ${blocks} blocks of code, ${kept.length} kept`;
  judge(`peers: ${counts}`, findings);
}

if (kinds.includes('node')) await node();
if (failed > 0) process.exitCode = 1;
console.log(`e2e-fuzz: ${passed} passed, ${failed} failed`);

async function node(): Promise<void> {
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
  endOnSignals();

  const endMs = performance.now() + 1000 * seconds;
  const fuzz = replayed ? replayOnNode : fuzzNode;
  const report = await fuzz(store, securePort, seed, endMs, saved, {
    memoryMaxBytes: MEMORY_MAX_BYTES,
    scriptMsMax: 400,
    answerMsMax: 5_000,
    stretchMsMax: 100,
  });
  console.log(
    `longest stretches: ${report.stretches.slice(0, 6).join('; ') || 'none'}; slowest put ${Math.round(report.worstAnswerMs)} ms`,
  );
  judge(`node: ${report.scripts} scripts, ${report.outcomes} kinds of answers`, report.findings);
}
