import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { machineFacts } from './machine.ts';
import { type Table, toMarkdown, toText } from './table.ts';

/**
 * The folder for the stores' data, on the same disk for both stores: BENCH_DIR, or a folder of the repository that git
 * ignores.
 */
export class DataFolder implements Disposable {
  readonly path: string;
  readonly #remove = (): void => rmSync(this.path, { recursive: true, force: true });

  constructor() {
    const parent = process.env['BENCH_DIR'] ?? join(import.meta.dirname, '../../data');
    mkdirSync(parent, { recursive: true });
    this.path = mkdtempSync(join(parent, 'bench-'));
    process.once('exit', this.#remove);
    // Without a listener a signal would end the process before cleaning up.
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(130));
  }

  [Symbol.dispose](): void {
    process.removeListener('exit', this.#remove);
    this.#remove();
  }
}

/** Prints a run's tables and failures, and writes them as Markdown if a file is named. */
export function report(run: {
  readonly title: string;
  readonly command: string;
  readonly tables: readonly Table[];
  readonly notes: readonly string[];
  readonly failures: readonly string[];
  readonly directory: string;
  readonly markdown: string;
}): void {
  const facts = machineFacts(run.directory);
  for (const table of run.tables) console.log(`\n${toText(table)}`);
  console.log(`\n${[...facts, ...run.notes].join('\n')}`);
  for (const failure of run.failures) console.log(`FAILED: ${failure}`);
  if (run.failures.length > 0) process.exitCode = 1;
  if (run.markdown === '') return;
  const bullets = (lines: readonly string[]): string => lines.map((line) => `- ${line}\n`).join('');
  const failed = run.failures.length === 0 ? '' : `## Failures\n\n${bullets(run.failures)}`;
  writeFileSync(
    run.markdown,
    `# ${run.title}\n\n\`${run.command}\`\n\n${bullets([...facts, ...run.notes])}\n${run.tables.map(toMarkdown).join('\n')}${failed}`,
  );
}
