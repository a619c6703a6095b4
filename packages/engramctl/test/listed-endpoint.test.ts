import { createSecureContext } from 'node:tls';
import { expect, test } from 'vitest';
import { listedEndpoint } from '../src/check/listed-endpoint.ts';
import type { Connections } from '../src/client/connections.ts';
import { parseEndpoint } from '../src/client/endpoint.ts';
import type { TlsSettings } from '../src/client/tls-files.ts';

const tls: TlsSettings = { context: createSecureContext(), skipVerify: false, serverName: '', files: [] };
const connections = (endpoint: string, token: string | undefined, settings?: TlsSettings): Connections => ({
  endpoints: [parseEndpoint(endpoint)],
  options: {
    tls: settings,
    dialTimeoutMs: 1,
    commandTimeoutMs: 1,
    keepaliveTimeMs: 1,
    keepaliveTimeoutMs: 1,
    receiveBytesMax: 1,
    sendBytesMax: 1,
    token,
  },
});

test.each([
  ['http://b:1', connections('http://a:1', 'token')],
  ['https://b:1', connections('https://a:1', 'token')],
  ['http://b:1', connections('https://a:1', undefined)],
  ['http://b:1', connections('a:1', 'token')],
  ['b:1', connections('a:1', 'token', tls)],
])('a member at %s is asked', (url, known) => expect(listedEndpoint(url, known)).toMatchObject({ text: url }));

test.each([
  ['https', connections('https://a:1', 'token')],
  ['the settings of TLS', connections('a:1', 'token', tls)],
])('a token that was given for %s does not go to a plain URL of the list', (_what, known) => {
  expect(listedEndpoint('http://b:1', known)).toEqual({
    problem: expect.stringContaining('a token would go there in plain text'),
  });
});

test('a URL that cannot be dialled is a problem, and no end', () => {
  expect(listedEndpoint('http://', connections('a:1', undefined))).toEqual({
    problem: expect.stringContaining('expected host:port'),
  });
});
