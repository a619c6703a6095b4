import { readFileSync } from 'node:fs';
import { createRequire, isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** The repository. */
export const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

/**
 * Stands for `node-gyp-build`, which looks for a binary among the folders of an npm package. In a release it lies beside
 * the bundle (`engram.cjs`), and below `../lib/engram` of an executable.
 */
const NATIVE_LOADER = `
  const { dirname, join } = require('node:path');
  const { isSea } = require('node:sea');
  module.exports = () => {
    const folder = isSea() ? join(dirname(process.execPath), '../lib/engram') : __dirname;
    const loaded = { exports: {} };
    process.dlopen(loaded, join(folder, 'classic-level-' + process.platform + '-' + process.arch + '.node'));
    return loaded.exports;
  };
`;
const NATIVE_LOADER_ID = '\0native-loader';
const REQUIRING = '@opentelemetry/otlp-grpc-exporter-base';

/** One file is both programs, as their parts are the same: it is the one by whose name it is started. */
const ENTRY = `
  import { basename } from 'node:path';
  import { isSea } from 'node:sea';
  const name = basename(isSea() ? process.argv0 : process.argv[1]);
  if (name === 'engramctl' || name === 'engramctl.cjs') void import(${mainOf('engramctl')});
  else void import(${mainOf('server')});
`;
const ENTRY_ID = '\0entry';

function mainOf(name: string): string {
  return JSON.stringify(join(root, 'packages', name, 'src/main.ts'));
}

/** Stands for the module that reads the text of the library of bcrypt: a release has no such file. */
const bcryptSource = (): string =>
  `export const bcryptSource = () => ${JSON.stringify(readFileSync(fileURLToPath(import.meta.resolve('bcryptjs')), 'utf8'))};`;

/** One CommonJS module with everything that a member or engramctl may load, types stripped. An executable can have no other kind. */
export async function writeBundle(file: string): Promise<void> {
  const bundle = await rolldown({
    input: ENTRY_ID,
    cwd: root,
    platform: 'node',
    logLevel: 'warn',
    onLog(level, log) {
      throw new Error(`the bundler says (${level}): ${log.message}`);
    },
    plugins: [
      {
        name: 'entry',
        resolveId: (id) => (id === ENTRY_ID ? ENTRY_ID : null),
        load: (id) => (id === ENTRY_ID ? { code: ENTRY, moduleType: 'js' } : null),
      },
      {
        // Its other form asks node for its modules at run time, where the bundler does not see it.
        name: 'required-form',
        resolveId: (id) => (id === REQUIRING ? createRequire(import.meta.url).resolve(id) : null),
      },
      {
        name: 'native-loader',
        resolveId: (id) => (id === 'node-gyp-build' ? NATIVE_LOADER_ID : null),
        load: (id) => (id === NATIVE_LOADER_ID ? { code: NATIVE_LOADER, moduleType: 'js' } : null),
      },
      {
        name: 'bcrypt-source',
        load: (id) => (id.endsWith('/auth/bcrypt-source.ts') ? { code: bcryptSource(), moduleType: 'js' } : null),
      },
    ],
  });
  try {
    await bundle.write({ file, format: 'cjs', codeSplitting: false, comments: { legal: true } });
    checkWhole(file);
  } finally {
    await bundle.close();
  }
}

/** Modules that a package tries to load and does without. */
const optional: ReadonlySet<string> = new Set(['bufferutil', 'utf-8-validate', './compiled.js']);

/** Where the bundle is started there is nothing but node: what it would ask node for at run time is missing there. */
function checkWhole(file: string): void {
  const asked = readFileSync(file, 'utf8').matchAll(/\b(?:__)?require(?:\$\d+)?\("([^"]+)"\)/g);
  const missing = new Set([...asked].map(([, name = '']) => name).filter((name) => !isBuiltin(name)));
  for (const name of optional) missing.delete(name);
  if (missing.size > 0) throw new Error(`the bundle asks node for ${[...missing].join(', ')}`);
}
