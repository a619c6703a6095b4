import { expect, test } from 'vitest';
import { type Endpoint, HttpRoutes } from '../src/http/http-routes.ts';

const answering =
  (body: string): Endpoint =>
  () => ({ status: 200, headers: {}, body });
const routes = new HttpRoutes()
  .add('/health', answering('health'))
  .add('/v3/', answering('all of v3'))
  .add('/v3/kv/', answering('all of kv'))
  .add('/v3/kv/range', answering('range'));

test.each([
  { path: '/health', answer: 'health', why: 'exactly that path' },
  { path: '/health/', answer: undefined, why: 'a path without a slash at its end is no prefix' },
  { path: '/healthz', answer: undefined, why: 'nor a part of a name' },
  { path: '/v3/lease/grant', answer: 'all of v3', why: 'a prefix' },
  { path: '/v3/kv/put', answer: 'all of kv', why: 'the longest prefix' },
  { path: '/v3/kv/range', answer: 'range', why: 'the path before the prefix' },
  { path: '/v3', answer: undefined, why: 'the prefix has its slash' },
])('$path is answered by $answer: $why', ({ path, answer }) => {
  expect((routes.endpointOf(path)?.({} as never) as { body: string } | undefined)?.body).toBe(answer);
});

test('a path that has an endpoint gets no other one', () => {
  expect(() => routes.add('/health', answering('other'))).toThrow('already');
  expect(() => routes.add('/v3/', answering('other'))).toThrow('already');
});
