import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadRoot, messageSet, readSchema } from '@engram/protobuf/schema';

test('the generated modules are what the generator makes of proto/', () => {
  execFileSync(process.execPath, [join(import.meta.dirname, '../tools/generate.ts'), '--check']);
});

test('a list of bigints that names a field which is not there is refused', () => {
  const etcd = messageSet('etcd');
  const wrong = { ...etcd, bigints: [...etcd.bigints, 'mvccpb.KeyValue.leese'] };
  expect(() => readSchema(wrong, loadRoot(wrong))).toThrow('mvccpb.KeyValue.leese');
});
