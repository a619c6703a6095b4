import { once } from 'node:events';
import { systemErrorCode } from '@engram/core';
import type { Printer } from './command.ts';
import { CtlError, messageOf } from './ctl-error.ts';

/**
 * Prints to streams that may be pipes: waits where the reader is slow, and ends the work where it is gone. Whatever was put into a text,
 * nothing in it moves a cursor: what a member says in its errors and names comes here as it is.
 */
export class StreamPrinter implements Printer {
  readonly #out: NodeJS.WritableStream;
  readonly #note: NodeJS.WritableStream;
  #failure: CtlError | undefined;

  constructor(out: NodeJS.WritableStream, note: NodeJS.WritableStream) {
    this.#out = out;
    this.#note = note;
    out.on('error', (error) => {
      // As in `engramctl inspect | head`: there is nothing to say.
      this.#failure ??=
        systemErrorCode(error) === 'EPIPE'
          ? new CtlError('input-output', '')
          : new CtlError('input-output', `cannot write the output: ${messageOf(error)}`, { cause: error });
    });
    note.on('error', () => {});
  }

  async out(text: string): Promise<void> {
    if (this.#failure !== undefined) throw this.#failure;
    if (this.#out.write(inertText(text))) return;
    try {
      await once(this.#out, 'drain');
    } catch (cause) {
      throw this.#failure ?? new CtlError('input-output', messageOf(cause), { cause });
    }
  }

  async note(text: string): Promise<void> {
    this.#note.write(inertText(text));
  }
}

/** The same lines, with the characters escaped that a terminal would obey. JSON stays the same JSON. */
const inertText = (text: string): string =>
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  text.replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g, (char) => {
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
