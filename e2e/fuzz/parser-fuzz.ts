import { Prng } from '@engram/sim';
import { Coverage } from './coverage.ts';
import type { Finding, Kept } from './finding.ts';
import { fileParsers, seedsOfFiles } from './file-parsers.ts';
import { someJson } from './gateway-json.ts';
import { someCall } from './messages.ts';
import { mutated, randomBytes } from './mutate.ts';
import { mayThrow, type Parser, parsers as pureParsers } from './parsers.ts';
import { someFrames } from './http2-script.ts';

/** Inputs between two reads of the coverage, each of which costs some milliseconds. */
const BATCH = 64;
const KEPT_MAX = 400;
/** CPU time for one input. First calls compile, and a garbage collection may fall into one: the least of three runs counts. */
const MS_MAX = 20;
const NS_PER_BYTE_MAX = 2_000;
const HEAP_MAX_BYTES = 512 * 1024 * 1024;

export interface ParserReport {
  readonly inputs: number;
  readonly blocks: number;
  /** The inputs that ran a block for the first time. */
  readonly kept: readonly Kept[];
  readonly findings: readonly Finding[];
}

const parsers: readonly Parser[] = [...fileParsers, ...pureParsers];
/** The parsers that are not made by the generator: most of the inputs are theirs. */
const BY_HAND = fileParsers.length + 9;

/** Runs the parsers until `endMs`. An input that runs a block for the first time is kept and mutated. */
export async function fuzzParsers(seed: number, endMs: number, saved: readonly Kept[]): Promise<ParserReport> {
  const random = new Prng(seed).fork('parsers');
  const findings: Finding[] = [];
  const found = new Set<string>();
  const fresh: Kept[] = [];
  let inputs = 0;
  await using coverage = await Coverage.start(
    /packages\/(wire|http2|protobuf|election|gateway|auth|bbolt|importer|transport)\//,
  );
  const files = await seedsOfFiles();
  const kept = new Map(parsers.map(({ name }) => [name, seedsOf(random, name, saved, files.get(name))]));
  const run = async (parser: Parser, bytes: Buffer): Promise<void> => {
    inputs += 1;
    const what = await faultOf(parser, bytes);
    if (what === undefined || found.has(`${parser.name} ${what.split('\n')[0]}`)) return;
    found.add(`${parser.name} ${what.split('\n')[0]}`);
    findings.push({ target: parser.name, what, chunks: [bytes] });
  };
  for (const parser of parsers) for (const bytes of kept.get(parser.name)!) await run(parser, Buffer.from(bytes));
  await coverage.fresh();
  while (performance.now() < endMs) {
    const parser = random.chance(0.6) ? random.pick(parsers.slice(0, BY_HAND)) : random.pick(parsers);
    const seeds = kept.get(parser.name)!;
    const batch = Array.from({ length: BATCH }, () => mutated(random, random.pick(seeds), seeds));
    for (const bytes of batch) await run(parser, bytes);
    const blocks = new Set(await coverage.fresh());
    for (const bytes of batch) {
      if (blocks.size === 0) break;
      await run(parser, bytes);
      if ((await coverage.found(blocks)) === 0 || seeds.length >= KEPT_MAX) continue;
      seeds.push(bytes);
      fresh.push({ target: parser.name, chunks: [bytes] });
    }
  }
  return { inputs, blocks: coverage.blocks, kept: fresh, findings };
}

function seedsOf(
  random: Prng,
  target: string,
  saved: readonly Kept[],
  files: readonly Buffer[] | undefined,
): Uint8Array[] {
  const seeds: Uint8Array[] = saved.filter((each) => each.target === target).map(({ chunks }) => Buffer.concat(chunks));
  if (fileParsers.some(({ name }) => name === target)) return [...seeds, ...(files ?? [])];
  for (let at = 0; at < 30; at += 1) {
    if (target === 'json') seeds.push(someJson(random));
    else if (target === 'frames') seeds.push(Buffer.concat([randomBytes(random, 1), ...someFrames(random)]));
    else seeds.push(someCall(random).message);
  }
  return seeds;
}

async function faultOf({ parse }: Parser, bytes: Buffer): Promise<string | undefined> {
  const maxMs = MS_MAX + (NS_PER_BYTE_MAX * bytes.length) / 1e6;
  let leastMs = Number.POSITIVE_INFINITY;
  for (let run = 0; run < 3; run += 1) {
    const before = process.threadCpuUsage();
    try {
      const done = parse(bytes);
      if (done !== undefined) await done;
    } catch (error) {
      if (!mayThrow(error)) return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
    const { user, system } = process.threadCpuUsage(before);
    leastMs = Math.min(leastMs, (user + system) / 1000);
    if (leastMs <= maxMs) break;
  }
  if (leastMs > maxMs) return `${Math.round(leastMs)} ms for ${bytes.length} bytes`;
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external > HEAP_MAX_BYTES ? 'more memory than all inputs together may take' : undefined;
}
