import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** What broke an oracle, and the input that did. */
export interface Finding {
  /** The parser, or the kind of connection. */
  readonly target: string;
  readonly what: string;
  readonly chunks: readonly Uint8Array[];
}

const corpusFolder = join(import.meta.dirname, 'corpus');

/** An input as text: what it is for, then a line of hex for each chunk. */
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

/** Inputs that once found something, or stand for a class of attacks. */
export const corpus = (): readonly Kept[] => inputsOf(corpusFolder);

/** The inputs that `save` has written to a folder, by file name, which begins with the target. */
export function inputsOf(folder: string): readonly Kept[] {
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
