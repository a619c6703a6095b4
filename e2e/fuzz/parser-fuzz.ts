import { garbageCollector } from '@engram/server/testing';
import { Prng } from '@engram/sim';
import { Coverage } from './coverage.ts';
import type { Finding, Kept } from './finding.ts';
import { fileParsers, seedsOfFiles } from './file-parsers.ts';
import { someJson } from './gateway-json.ts';
import { someCall } from './messages.ts';
import { mutated, randomBytes } from './mutate.ts';
import { generatedParsers, mayThrow, type Parser, pureParsers } from './parsers.ts';
import { someFrames } from './http2-script.ts';

/** Inputs between two reads of the coverage, each of which costs some milliseconds. */
const BATCH = 64;
const KEPT_MAX = 400;
/** CPU time for one input. First calls compile, and a garbage collection may fall into one: the least of some runs counts. */
const MS_MAX = 10;
const NS_PER_BYTE_MAX = 2_000;
const RUNS_MAX = 5;
const HEAP_MAX_BYTES = 512 * 1024 * 1024;
/** What a subject may leave in memory beside the inputs that are kept: compiled code, counts of the coverage. */
const GROWTH_MAX_BYTES = 16 * 1024 * 1024;
/** Buffers are freed when it returns: behind a plain collection another thread frees them, and they count until the next one. */
const collect = garbageCollector();

/** Parsers of one form of input, which share their time. */
interface Subject {
  readonly name: string;
  readonly parsers: readonly Parser[];
}

const named = (name: string, ...names: readonly string[]): Subject => ({
  name,
  parsers: [...fileParsers, ...pureParsers].filter((parser) => names.includes(parser.name)),
});

const subjects: readonly Subject[] = [
  named('token', 'token'),
  named('crl', 'crl'),
  named('pem', 'pem'),
  named('bbolt', 'bbolt'),
  named('snapshot', 'snapshot'),
  named('json', 'json', 'json-of-message'),
  named('http2', 'frames', 'hpack'),
  named('requests', 'range', 'put', 'delete-range', 'txn', 'forwarded txn', 'peer-message', 'keep-alive'),
  { name: 'messages', parsers: generatedParsers },
];

export interface ParserReport {
  readonly subject: string;
  readonly inputs: number;
  /** Blocks of code that no earlier subject ran. */
  readonly blocks: number;
  /** The inputs that ran a block for the first time. */
  readonly kept: readonly Kept[];
  /** CPU time of the input that took longest. */
  readonly longestMs: number;
  /** Memory that is in use after a collection, more than before the subject and without the inputs that are kept. */
  readonly grownBytes: number;
  readonly findings: readonly Finding[];
}

/** How many subjects there are, of those that are named; without names, all. */
export function chosenSubjects(names: readonly string[] = []): readonly Subject[] {
  const unknown = names.find((name) => !subjects.some((subject) => subject.name === name));
  if (unknown !== undefined)
    throw new Error(`no parser is called ${unknown}: ${subjects.map(({ name }) => name).join()}`);
  return names.length === 0 ? subjects : subjects.filter(({ name }) => names.includes(name));
}

/** Runs the parsers of each subject for this time. An input that runs a block for the first time is kept and mutated. */
export async function* fuzzParsers(
  chosen: readonly Subject[],
  seed: number,
  secondsEach: number,
  saved: readonly Kept[],
): AsyncGenerator<ParserReport> {
  await using coverage = await Coverage.start(
    /packages\/(wire|http2|protobuf|election|gateway|auth|bbolt|importer|transport)\//,
  );
  const files = await seedsOfFiles();
  for (const subject of chosen) {
    const random = new Prng(seed).fork(`parsers of ${subject.name}`);
    const seeds = new Map(
      subject.parsers.map(({ name }) => [name, seedsOf(random, name, saved, files.get(name))] as const),
    );
    yield await new SubjectFuzz(subject, random, coverage, seeds).run(1000 * secondsEach);
  }
}

class SubjectFuzz {
  readonly #subject: Subject;
  readonly #random: Prng;
  readonly #coverage: Coverage;
  readonly #seeds: ReadonlyMap<string, Uint8Array[]>;
  readonly #findings: Finding[] = [];
  readonly #found = new Set<string>();
  readonly #kept: Kept[] = [];
  #inputs = 0;
  #longestMs = 0;

  constructor(subject: Subject, random: Prng, coverage: Coverage, seeds: ReadonlyMap<string, Uint8Array[]>) {
    this.#subject = subject;
    this.#random = random;
    this.#coverage = coverage;
    this.#seeds = seeds;
  }

  async run(timeMs: number): Promise<ParserReport> {
    const { name: subject, parsers } = this.#subject;
    const endMs = performance.now() + timeMs;
    const blocksBefore = this.#coverage.blocks;
    for (const parser of parsers)
      for (const bytes of this.#seeds.get(parser.name)!) await this.#try(parser, Buffer.from(bytes));
    await this.#coverage.fresh();
    const bytesBefore = collectedBytes();
    while (performance.now() < endMs) await this.#round(this.#random.pick(parsers));
    const keptBytes = this.#kept.reduce((sum, { chunks }) => sum + chunks[0]!.length, 0);
    const grownBytes = Math.max(0, collectedBytes() - bytesBefore - keptBytes);
    if (grownBytes > GROWTH_MAX_BYTES) {
      const what = `has grown by ${Math.round(grownBytes / 2 ** 20)} MiB in ${this.#inputs} inputs`;
      this.#findings.push({ target: subject, what, chunks: [] });
    }
    return {
      subject,
      inputs: this.#inputs,
      blocks: this.#coverage.blocks - blocksBefore,
      kept: this.#kept,
      longestMs: this.#longestMs,
      grownBytes,
      findings: this.#findings,
    };
  }

  async #round(parser: Parser): Promise<void> {
    const seeds = this.#seeds.get(parser.name)!;
    const batch = Array.from({ length: BATCH }, () => mutated(this.#random, this.#random.pick(seeds), seeds));
    for (const bytes of batch) await this.#try(parser, bytes);
    const blocks = new Set(await this.#coverage.fresh());
    for (const bytes of batch) {
      if (blocks.size === 0) return;
      await this.#try(parser, bytes);
      if ((await this.#coverage.found(blocks)) === 0 || seeds.length >= KEPT_MAX) continue;
      seeds.push(bytes);
      this.#kept.push({ target: parser.name, chunks: [bytes] });
    }
  }

  async #try(parser: Parser, bytes: Buffer): Promise<void> {
    this.#inputs += 1;
    const { what, ms } = await outcomeOf(parser, bytes);
    this.#longestMs = Math.max(this.#longestMs, ms);
    if (what === undefined || this.#found.has(`${parser.name} ${what.split('\n')[0]}`)) return;
    this.#found.add(`${parser.name} ${what.split('\n')[0]}`);
    this.#findings.push({ target: parser.name, what, chunks: [bytes] });
  }
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

/** The CPU time of the fastest run, and what is wrong with the input, if anything is. */
async function outcomeOf({ parse }: Parser, bytes: Buffer): Promise<{ readonly what?: string; readonly ms: number }> {
  const maxMs = MS_MAX + (NS_PER_BYTE_MAX * bytes.length) / 1e6;
  let ms = Number.POSITIVE_INFINITY;
  for (let run = 0; run < RUNS_MAX && ms > MS_MAX; run += 1) {
    const before = process.threadCpuUsage();
    try {
      const done = parse(bytes);
      if (done !== undefined) await done;
    } catch (error) {
      if (!mayThrow(error))
        return { what: error instanceof Error ? (error.stack ?? error.message) : String(error), ms: 0 };
    }
    const { user, system } = process.threadCpuUsage(before);
    ms = Math.min(ms, (user + system) / 1000);
  }
  if (ms > maxMs) return { what: `${Math.round(ms)} ms for ${bytes.length} bytes`, ms };
  const { heapUsed, external } = process.memoryUsage();
  const isFull = heapUsed + external > HEAP_MAX_BYTES;
  return isFull ? { what: 'more memory than all inputs together may take', ms } : { ms };
}

/** What is in use. */
function collectedBytes(): number {
  collect?.();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}
