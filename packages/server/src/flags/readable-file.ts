import { accessSync, constants } from 'node:fs';
import { ConfigError } from './flag-values.ts';

/** Throws ConfigError if the file of a flag cannot be read. */
export function checkReadable(flag: string, file: string): void {
  try {
    accessSync(file, constants.R_OK);
  } catch (cause) {
    throw new ConfigError(`--${flag}: cannot read ${file}`, { cause });
  }
}
