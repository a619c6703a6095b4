// `make flags`: writes docs/FLAGS.md from the table of flags.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../release/bundle.ts';
import { flagsDocument } from './flags-page.ts';

writeFileSync(join(root, 'docs/FLAGS.md'), flagsDocument());
