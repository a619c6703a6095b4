import type { Logger } from '@engram/core';
import type { Printer } from './command.ts';

/** What a storage warns of while it is filled or opened. */
export function notesOf(printer: Printer): Logger {
  const note = (_fields: object, message: string): void => void printer.note(`Warning: ${message}\n`);
  return { debug: () => {}, info: () => {}, warn: note, error: note };
}
