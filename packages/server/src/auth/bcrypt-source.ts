import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * The text of the library of bcrypt, a module without imports of others. A release is one file, without a second one to start a
 * thread from, so it has the text instead of this module (`tools/release/bundle.ts`).
 */
export const bcryptSource = (): string => readFileSync(fileURLToPath(import.meta.resolve('bcryptjs')), 'utf8');
