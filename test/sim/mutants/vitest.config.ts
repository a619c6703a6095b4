// The tests of the project on sources with the mutant that MUTANT names.
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import { chosenMutant } from './find-mutant.ts';
import { applyEdits } from './mutant.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const mutant = chosenMutant();
/** What never ends with the mutant is found as well, and a slow machine is not taken for that. */
const TIMEOUT_MS = 60_000;

export default defineConfig({
  plugins: [
    {
      name: 'mutant',
      enforce: 'pre',
      transform(code, id) {
        const [path] = id.split('?');
        const file = path!.startsWith(root) ? path!.slice(root.length) : undefined;
        const edits = mutant.edits.filter((edit) => edit.file === file);
        return edits.length === 0 ? undefined : applyEdits(code, edits);
      },
    },
  ],
  test: {
    include: ['packages/*/test/**/*.test.ts', 'test/**/*.test.ts'],
    // Also where a test imports them by the name of their package.
    server: { deps: { inline: [/\/packages\//, /@engram\//] } },
    // The sources are not what the files say.
    fsModuleCache: false,
    testTimeout: TIMEOUT_MS,
    hookTimeout: TIMEOUT_MS,
  },
});
