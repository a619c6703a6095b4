import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** One file of TypeScript, as far as the architecture is about it. */
export interface SourceFile {
  /** From the repository's root. */
  readonly path: string;
  /** The package that it is in; undefined outside of packages/. */
  readonly owner: string | undefined;
  /** `sources` are what a package is to others; tests, benchmarks, suites, tools and fakes for tests are not. */
  readonly part: 'sources' | 'tests';
  /** What it imports, as written. */
  readonly imports: readonly string[];
  /** The text without its comments. */
  readonly code: string;
  readonly lines: number;
}

export interface Manifest {
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

const patterns = ['packages/*/**/*.ts', 'test/**/*.ts', 'e2e/**/*.ts', 'bench/**/*.ts', 'tools/**/*.ts', '*.ts'];

export function readSourceFiles(root: string): readonly SourceFile[] {
  const paths = globSync(patterns, { cwd: root, exclude: ['**/node_modules/**', '**/gen/**'] });
  return paths.toSorted().map((path) => sourceFile(path, readFileSync(join(root, path), 'utf8')));
}

export function sourceFile(path: string, text: string): SourceFile {
  const [top, owner, ...rest] = path.split('/');
  const inPackage = top === 'packages';
  const code = withoutComments(text);
  return {
    path,
    owner: inPackage ? owner : undefined,
    part: inPackage && isSource(rest) ? 'sources' : 'tests',
    imports: importsOf(code),
    code,
    lines: text.split('\n').length,
  };
}

const isSource = ([first, second]: readonly string[]): boolean =>
  first === 'index.ts' || (first === 'src' && second !== 'testing');

function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, '').replace(/(^|\s)\/\/.*$/gm, '$1');
}

/** Declarations begin their line, which keeps those in texts out; `import()` may stand anywhere. */
function importsOf(code: string): readonly string[] {
  const names = String.raw`(?:type\s+)?(?:\w+\s*,\s*)?(?:\{[^}]*\}|\*(?:\s+as\s+\w+)?|\w+)`;
  const declaration = new RegExp(String.raw`^(?:import|export)\s+(?:${names}\s*from\s*)?'([^']+)'`, 'gm');
  const call = /\bimport\(\s*'([^']+)'/g;
  return [declaration, call].flatMap((pattern) => [...code.matchAll(pattern)].map(([, specifier]) => specifier!));
}

export function readManifests(root: string): ReadonlyMap<string, Manifest> {
  const paths = globSync('packages/*/package.json', { cwd: root });
  return new Map(paths.map((path) => [path.split('/')[1]!, JSON.parse(readFileSync(join(root, path), 'utf8'))]));
}

export function readRootManifest(root: string): Manifest {
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
}
