import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What the checks need to know of a TypeScript file. */
export interface SourceFile {
  /** Relative to the repository. */
  readonly path: string;
  /** Its package; undefined outside of packages/. */
  readonly owner: string | undefined;
  /** `sources` are what other packages get. Tests, benchmarks, contract suites, tools and fakes are not. */
  readonly part: 'sources' | 'tests';
  /** The import specifiers, as written. */
  readonly imports: readonly string[];
  /** The text without comments. */
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

/** Import declarations begin their line, so those inside strings are not found. `import()` may be anywhere. */
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
