import type { Logger } from '@engram/core';
import type { Printer } from './command.ts';

/** What a storage warns of while it is filled or opened. */
export function notesOf(printer: Printer): Logger {
  const note = (_fields: object, message: string): void => void printer.note(`Warning: ${message}\n`);
  return { debug: () => {}, info: () => {}, warn: note, error: note };
}

/** What work that goes on for long says of itself, each time on a line with its figures. */
export function progressOf(printer: Printer): Logger {
  const note =
    (before: string) =>
    (fields: object, message: string): void => {
      const figures = Object.entries(fields).map(([name, value]) => `, ${name} ${value}`);
      void printer.note(`${before}${message}${figures.join('')}\n`);
    };
  return { debug: () => {}, info: note(''), warn: note('Warning: '), error: note('Warning: ') };
}
