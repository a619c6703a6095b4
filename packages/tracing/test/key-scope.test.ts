import { utf8 } from '@engram/core';
import { expect, test } from 'vitest';
import { keyScope } from '../src/key-scope.ts';
import { recordable } from '../src/otel-tracer.ts';

test.each([
  ['/registry/secrets/default/token', '/registry/secrets', 'the kind of an object, and not its name'],
  ['/registry/secrets/', '/registry/secrets', 'a range of all objects of a kind'],
  ['/registry/secrets', '/registry', 'the last segment names something'],
  ['registry/pods/x', 'registry/pods', 'a key need not begin with a slash'],
  ['a/b', 'a', ''],
  ['password', '', 'a key without segments'],
  ['/password', '', ''],
  ['', '', ''],
  ['//x', '/', 'an empty segment is one'],
  ['/geh\u00e9im/x/y', '', 'not plain text'],
  ['/a b/c/d', '', ''],
  [`/${'x'.repeat(200)}/y/z`, '', 'too long for a scope'],
])('of %j %j is recorded: %s', (key, scope) => {
  expect(keyScope(utf8(key))).toBe(scope);
});

test('without the wish for keys no attribute has one, in any form', () => {
  const secret = utf8('/registry/secrets/default/token');
  const attributes = { range_begin: secret, range_end: utf8('/registry/secrets/default/tokeo'), limit: 3 };
  expect(recordable(attributes, false)).toEqual({ key_scope: '/registry/secrets', limit: 3 });
  expect(recordable({ key: utf8('token') }, false)).toEqual({});
  expect(recordable(attributes, true)).toEqual({
    range_begin: '/registry/secrets/default/token',
    range_end: '/registry/secrets/default/tokeo',
    limit: 3,
  });
});
