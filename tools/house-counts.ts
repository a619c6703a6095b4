/**
 * Counts that say how far the code is from one owner of each concern: of the event loop's time, of the path of a write, of
 * a name. `node tools/house-counts.ts` counts the working tree; `node tools/house-counts.ts REVISION...` also older ones.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix, resolve } from 'node:path';
import { declaredNames, namesOnFaces, wrongNamesInside, wrongSharedNames } from './name-check.ts';
import { namesInside, sharedNames } from './shared-names.ts';
import { sourceFile } from './source-files.ts';

const root = resolve(import.meta.dirname, '..');

interface Source {
  /** From the root, as packages/core/src/bytes.ts. */
  readonly path: string;
  readonly text: string;
}

/** Two forms of one rule, by what declares each. Both are there: one twin. A file may lie in any folder of its src/. */
const twins: readonly (readonly [path: string, one: string, other: string])[] = [
  ['sequencer/src/sequencer.ts', '  sequence(', '*sequenceSliced('],
  ['sequencer/src/sequencer.ts', '  #checkSimple(', '*#check('],
  ['sequencer/src/sequencer.ts', '#executeSimple(', '*#execute('],
  ['sequencer/src/compares.ts', 'succeeds(', 'choosePath('],
  ['backend/src/write-path.ts', '#sequence(', '#sequenceSliced('],
  ['backend/src/decisions.ts', 'inTurn', 'take'],
  ['backend/src/replicated-state.ts', '  take(', '*moveKeys('],
  ['backend/src/applier.ts', '#takeEffect(', '#takeLong('],
  ['backend/src/awaited-writes.ts', '#applied(', '#goOnApplied('],
  ['backend/src/answer.ts', 'function answerAtOnce(', 'function answerInSlices('],
  ['scanner/src/scanner.ts', '  #list(', '#listInSlices('],
  ['scanner/src/scanner.ts', '  #page(', '#pageOn('],
  ['index/src/key-index.ts', '  count(', '  countSome('],
  ['index/src/key-index.ts', '  collect(', '  collectSome('],
  ['watch-hub/src/publication.ts', 'handAtOnce(', 'inSlices('],
  ['etcd-api/src/event-memo.ts', '#encoded(', '*#encoding('],
  ['storage-tikv/src/batch-format.ts', 'function chainBehind(', 'function* chainingBehind('],
];

/**
 * What decides beside `packages/loop` when work gives way, by what declares it. The package itself is one more: its parts, as
 * `TransportShare` and `InlineShare`, are summed in its turn-parts.ts.
 */
const schedulers: readonly RegExp[] = [
  /class Slice\b/,
  /class TurnLine\b/,
  /class Transport(?:Turn|Share)\b/,
  /class TurnAllowance\b/,
  /const (?:PLAIN_STARTED|RESUMED|DROPPED)_PER_TURN\b/,
  /const expiredPerTurn\b/,
  /const LINES_PER_TURN\b/,
  /class Sliced\b/,
  /class Walk\b/,
  /class StreamProgress\b[\s\S]*\bLOOKS_MAX\b/,
  /const (?:SLICE_KEYS|SLICE_GARBAGE|STEP_CANDIDATES|DROP_MAX)\b/,
  /const NOW_SPENT_MS_MAX\b/,
  /function pace\((?!loop\b)/,
];

const matches = (sources: readonly Source[], pattern: RegExp): number =>
  sources.reduce((sum, { text }) => sum + (text.match(pattern)?.length ?? 0), 0);

const files = (sources: readonly Source[], pattern: RegExp): number =>
  sources.filter(({ text }) => pattern.test(text)).length;

function counts(sources: readonly Source[]): Readonly<Record<string, number>> {
  const textOf = (path: string): string => {
    const [src, name] = [posix.dirname(path), posix.basename(path)];
    const isIt = (source: Source) => source.path.startsWith(`packages/${src}/`) && posix.basename(source.path) === name;
    return sources.find(isIt)?.text ?? '';
  };
  const inLoop = ({ path }: Source) => path.startsWith('packages/loop/');
  const besideLoop = sources.filter((source) => !inLoop(source));
  const besideCore = sources.filter(({ path }) => !path.startsWith('packages/core/'));
  return {
    'cost constants': matches(sources, /^(?:export )?const \w+_US\b/gm),
    twins: twins.filter(([path, one, other]) => textOf(path).includes(one) && textOf(path).includes(other)).length,
    'files that name slices': files(
      besideLoop,
      /\b(?:Slice|Sliced|SlicedWork|doSliced|doAtOnce|sortSliced|sliceUs|sliceMax|nextTurn|giveWay)\b/,
    ),
    'files that ask for their turn': files(sources, /\.shouldYield\(/),
    schedulers: schedulers.filter((pattern) => files(besideLoop, pattern) > 0).length + Number(sources.some(inLoop)),
    'callbacks of the write path': callbacksOf(textOf('backend/src/write-path.ts')),
    'instanceof Promise': matches(sources, /\binstanceof Promise\b/g),
    'definite assignments': matches(sources, /^ {2}(?:readonly )?#?\w+!:/gm),
    'waits by hand': matches(besideCore, HAND_MADE_WAIT),
    ...namesOf(sources),
  };
}

/**
 * What `sleep`, `withDeadline` and `Waiters` of core are for: a promise of a timer, a signal that a timer aborts, a list of callers
 * that wait for a change.
 */
const HAND_MADE_WAIT =
  /new Promise[^;]*=> (?:void )?(?:[\w.#]*clock\.after|this\.#\w+\.push)\(|\.after\([^;]*=> \w+\.abort\(|\.after\((?:(?!\n {2}\})[\s\S]){0,400}addEventListener\('abort'/g;

/** Exported by more than one package, on their faces and at all, and those that `shared-names.ts` gives no reason for. */
function namesOf(sources: readonly Source[]): Readonly<Record<string, number>> {
  const files = sources.map(({ path, text }) => sourceFile(path, text));
  const shared = (names: ReadonlyMap<string, ReadonlySet<string>>) =>
    [...names.values()].filter((owners) => owners.size > 1).length;
  const isWrong = (line: string): boolean => !line.includes(' has a reason, and ');
  const wrong = [...wrongSharedNames(files, sharedNames), ...wrongNamesInside(files, namesInside, sharedNames)];
  return {
    'names on the faces of two packages': shared(namesOnFaces(files)),
    'exported names in two packages': shared(declaredNames(files)),
    'of these names without a reason': wrong.filter(isWrong).length,
  };
}

/** Functions that the constructor gives to others. */
function callbacksOf(text: string): number {
  const body = text.match(/^ {2}constructor\([\s\S]*?^ {2}\}/m)?.[0] ?? '';
  return body.match(/^ +\w+: (?:async )?\([^)]*\) =>/gm)?.length ?? 0;
}

/** The product's sources: index.ts and src/ of each package, without what is generated or for tests. */
function sourcesIn(folder: string): readonly Source[] {
  const all = readdirSync(join(folder, 'packages'), { recursive: true, encoding: 'utf8' });
  return all
    .map((path) => `packages/${path}`)
    .filter((path) => /^packages\/[^/]+\/(?:index\.ts$|src\/.*\.ts$)/.test(path))
    .filter((path) => !/\/(?:testing|gen|generated)\//.test(path))
    .map((path) => ({ path, text: readFileSync(join(folder, path), 'utf8') }));
}

function countsAt(revision: string): Readonly<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'house-counts-'));
  try {
    const archive = execFileSync('git', ['-C', root, 'archive', revision, 'packages'], { maxBuffer: 1 << 30 });
    execFileSync('tar', ['-x', '-C', folder], { input: archive });
    return counts(sourcesIn(folder));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const revisions = process.argv.slice(2);
const columns = [
  ...revisions.map((revision) => [revision, countsAt(revision)] as const),
  ['now', counts(sourcesIn(root))] as const,
];
const width = Math.max(...columns.map(([name]) => name.length), 6);
const row = (title: string, cells: readonly string[]): string =>
  [title.padEnd(36), ...cells.map((cell) => cell.padStart(width))].join('  ');
console.log(
  row(
    '',
    columns.map(([name]) => name),
  ),
);
for (const title of Object.keys(columns.at(-1)![1])) {
  console.log(
    row(
      title,
      columns.map(([, of]) => String(of[title])),
    ),
  );
}
