// Loaded before everything else (node --import): sources of the mutant that MUTANT names are edited as they are read.
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { chosenMutant } from './find-mutant.ts';
import { applyEdits } from './mutant.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const mutant = chosenMutant();

registerHooks({
  load(url, context, next) {
    const loaded = next(url, context);
    if (!url.startsWith('file:')) return loaded;
    const file = fileURLToPath(url).slice(root.length);
    const edits = mutant.edits.filter((edit) => edit.file === file);
    if (edits.length === 0 || loaded.source === undefined || loaded.source === null) return loaded;
    return { ...loaded, source: applyEdits(Buffer.from(loaded.source as Uint8Array).toString(), edits) };
  },
});
