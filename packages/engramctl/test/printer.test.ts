import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { StreamPrinter } from '../src/cli/printer.ts';
import { jsonLine } from '../src/print/json.ts';

test('nothing that is printed moves a cursor, and JSON stays the same', async () => {
  const [out, notes] = [new PassThrough(), new PassThrough()];
  const printer = new StreamPrinter(out, notes);
  // Codes of terminals of one byte, and of two.
  const said = { errors: ['\u009b2J\u001b]0;title\u0007', 'two\nlines\tand\\u009b'] };
  await printer.note(`Error: ${said.errors[0]}\r\u202eOK\n\ttwo lines\n`);
  await printer.out(jsonLine(said));
  expect(String(notes.read())).toBe('Error: \\u009b2J\\u001b]0;title\\u0007\\u000d\\u202eOK\n\ttwo lines\n');
  const line = String(out.read());
  expect(line).not.toContain('\u009b');
  expect(JSON.parse(line)).toEqual(said);
});
