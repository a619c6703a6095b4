import { getEventListeners } from 'node:events';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { askPassword } from '../src/cli/ask-password.ts';

test('the line that is piped in is the password, and no listener is left', async () => {
  const [input, terminal, { signal }] = [new PassThrough(), new PassThrough(), new AbortController()];
  const asked = askPassword(input, terminal, signal);
  input.write('secret\nmore');
  expect(await asked).toBe('secret');
  expect(String(terminal.read())).toBe('Password: \n');
  expect(getEventListeners(signal, 'abort')).toEqual([]);
});

test('an input that ends without a line, and a signal before and while it is asked', async () => {
  const ended = new PassThrough();
  const asked = askPassword(ended, new PassThrough(), new AbortController().signal);
  ended.end();
  await expect(asked).rejects.toThrow('no password was given');
  const stop = new AbortController();
  const waiting = askPassword(new PassThrough(), new PassThrough(), stop.signal);
  stop.abort(new Error('stopped'));
  await expect(waiting).rejects.toThrow('stopped');
  await expect(askPassword(new PassThrough(), new PassThrough(), stop.signal)).rejects.toThrow('stopped');
});
