import { createInterface } from 'node:readline';
import { type Readable, Writable } from 'node:stream';
import { CtlError } from './ctl-error.ts';

/** Reads a password from the terminal without showing it, or a line of what is piped in. Rejects with CtlError or the reason. */
export async function askPassword(
  input: Readable & { readonly isTTY?: boolean },
  terminal: Writable,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  terminal.write('Password: ');
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: input.isTTY ?? false });
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const abort = (): void => reject(signal.reason);
  signal.addEventListener('abort', abort, { once: true });
  try {
    // In a raw terminal the keys of a signal come here.
    lines.once('SIGINT', () => reject(new CtlError('interrupted', 'interrupted')));
    lines.once('line', resolve);
    lines.once('close', () => reject(new CtlError('bad-arguments', 'no password was given')));
    return await promise;
  } finally {
    signal.removeEventListener('abort', abort);
    lines.close();
    terminal.write('\n');
  }
}
