import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** An input that violated an oracle, and how. */
export interface Finding {
  /** The parser, or the kind of connection. */
  readonly target: string;
  readonly what: string;
  readonly chunks: readonly Uint8Array[];
}

const corpusFolder = join(import.meta.dirname, 'corpus');

/** Adds inputs to a folder from which `inputsOf` reads them. */
export function keep(folder: string, what: string, inputs: readonly Kept[]): void {
  for (const input of inputs) save(folder, { ...input, what });
}

/** Writes an input as text: a line that says what it found, then a line of hex for each chunk. */
export function save(folder: string, { target, what, chunks }: Finding): string {
  mkdirSync(folder, { recursive: true });
  const lines = [`# ${what.split('\n')[0]}`, ...chunks.map((chunk) => Buffer.from(chunk).toString('hex'))];
  const text = `${lines.join('\n')}\n`;
  const file = join(folder, `${target}-${createHash('sha256').update(text).digest('hex').slice(0, 12)}.hex`);
  writeFileSync(file, text);
  return file;
}

export interface Kept {
  readonly target: string;
  readonly chunks: readonly Buffer[];
}

/** Inputs that once found a defect, or represent a class of attacks. */
export const corpus = (): readonly Kept[] => inputsOf(corpusFolder);

/** The inputs that `save` has written to a folder, in the order of their file names, which begin with the target. */
export function inputsOf(folder: string): readonly Kept[] {
  if (!existsSync(folder)) return [];
  return readdirSync(folder)
    .filter((file) => file.endsWith('.hex'))
    .sort()
    .map((file) => {
      const lines = readFileSync(join(folder, file), 'utf8').split('\n');
      const chunks = lines
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => Buffer.from(line, 'hex'));
      return { target: file.slice(0, file.lastIndexOf('-')), chunks };
    });
}
