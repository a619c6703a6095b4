import { createInterface } from 'node:readline';
import { Writable } from 'node:stream';
import { CtlError } from './ctl-error.ts';

/** Reads a password from the terminal without showing it, or a line of what is piped in. Rejects with CtlError or the reason. */
export async function askPassword(
  input: NodeJS.ReadStream,
  terminal: NodeJS.WriteStream,
  signal: AbortSignal,
): Promise<string> {
  terminal.write('Password: ');
  const nowhere = new Writable({ write: (_part, _encoding, done) => done() });
  const lines = createInterface({ input, output: nowhere, terminal: input.isTTY });
  try {
    return await new Promise((resolve, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
      // In a raw terminal the keys of a signal come here.
      lines.once('SIGINT', () => reject(new CtlError('interrupted', 'interrupted')));
      lines.once('line', resolve);
      lines.once('close', () => reject(new CtlError('bad-arguments', 'no password was given')));
    });
  } finally {
    lines.close();
    terminal.write('\n');
  }
}
