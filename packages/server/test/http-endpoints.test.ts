import { afterEach, beforeEach, expect, test } from 'vitest';
import { ALARM_CORRUPT, ALARM_NOSPACE, nodeItself } from '@engram/backend';
import type { Gateway } from '@engram/gateway';
import { type Member, startLoneMember } from '@engram/member';
import { SharedBudget } from '@engram/core';
import { quiet, realClock, realRandom } from '@engram/sim';
import { MemoryStorage } from '@engram/storage';
import { HealthMetrics, MetricRegistry } from '@engram/telemetry';
import type { HttpHandler, HttpRequest } from '@engram/transport';
import {
  clientEndpoints,
  clientWebSockets,
  type HttpEndpointsOptions,
  metricsEndpoints,
} from '../src/http/http-endpoints.ts';
import { MetricsPage } from '../src/http/metrics-page.ts';

const alarm = (kind: number) => ({ memberId: 7n, alarm: kind });

let member: Member;
beforeEach(async () => {
  member = await startLoneMember({
    storage: new MemoryStorage(),
    identity: { clusterId: 1n, memberId: 7n, name: 'node', peerUrls: [], clientUrls: [] },
    startCount: 1,
    settings: {},
    limits: {},
    version: '3.7.0',
    compaction: { mode: 'off' },
    clock: realClock,
    random: realRandom,
    logger: quiet,
    onFatal: (error) => {
      throw error;
    },
  });
});
afterEach(() => member[Symbol.asyncDispose]());

function options(changes: Partial<HttpEndpointsOptions> = {}): HttpEndpointsOptions {
  const metrics = new MetricRegistry();
  const any = new Set(['*']);
  return {
    checks: member.health,
    metrics: new MetricsPage(metrics, realClock),
    health: new HealthMetrics(metrics),
    logger: quiet,
    corsOrigins: any,
    hostWhitelist: any,
    ...changes,
  };
}

const answerBytes = new SharedBudget({ max: 2 ** 20, greed: 1, floor: 2 ** 10 });

interface Asked {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

async function ask(handler: HttpHandler, target: string, changes: Partial<HttpRequest> = {}): Promise<Asked> {
  const response = await handler(requestOf(target, changes));
  const { body } = response;
  return { ...response, body: body instanceof Uint8Array ? Buffer.from(body).toString() : String(body) };
}

function requestOf(target: string, changes: Partial<HttpRequest>): HttpRequest {
  const [path = '', query = ''] = target.split('?');
  return {
    method: 'GET',
    path,
    query: new URLSearchParams(query),
    headers: { host: '127.0.0.1:2379' },
    body: new Uint8Array(),
    peer: '127.0.0.1:5',
    client: {},
    secure: false,
    commonName: undefined,
    signal: new AbortController().signal,
    answerBytes: answerBytes.share(),
    ...changes,
  };
}

test.each([
  { alarms: [], target: '/health', status: 200, body: '{"health":"true","reason":""}' },
  { alarms: [], target: '/health?serializable=true', status: 200, body: '{"health":"true","reason":""}' },
  { alarms: [ALARM_NOSPACE], target: '/health', status: 503, body: '{"health":"false","reason":"ALARM NOSPACE"}\n' },
  { alarms: [ALARM_NOSPACE], target: '/health?exclude=NOSPACE', status: 200, body: '{"health":"true","reason":""}' },
  {
    alarms: [ALARM_NOSPACE, ALARM_CORRUPT],
    target: '/health?exclude=NOSPACE',
    status: 503,
    body: '{"health":"false","reason":"ALARM CORRUPT"}\n',
  },
  {
    alarms: [ALARM_NOSPACE, ALARM_CORRUPT],
    target: '/health?exclude=NOSPACE&exclude=CORRUPT',
    status: 200,
    body: '{"health":"true","reason":""}',
  },
  { alarms: [], target: '/livez', status: 200, body: 'ok\n' },
  { alarms: [], target: '/livez?verbose', status: 200, body: '[+]serializable_read ok\nok\n' },
  { alarms: [ALARM_NOSPACE, ALARM_CORRUPT], target: '/livez', status: 200, body: 'ok\n' },
  { alarms: [ALARM_NOSPACE], target: '/readyz', status: 200, body: 'ok\n' },
  {
    alarms: [],
    target: '/readyz?verbose=1&exclude=linearizable_read&exclude=unknown',
    status: 200,
    body: '[+]data_corruption ok\n[+]serializable_read ok\n[+]non_learner ok\nok\n',
  },
  {
    alarms: [ALARM_CORRUPT],
    target: '/readyz',
    status: 503,
    body: '[-]data_corruption failed: alarm activated: CORRUPT\n[+]serializable_read ok\n[+]linearizable_read ok\n[+]non_learner ok\n\n',
  },
  { alarms: [ALARM_CORRUPT], target: '/readyz?exclude=data_corruption', status: 200, body: 'ok\n' },
  { alarms: [ALARM_CORRUPT], target: '/readyz/linearizable_read', status: 200, body: 'ok\n' },
  {
    alarms: [ALARM_CORRUPT],
    target: '/readyz/data_corruption?exclude=data_corruption',
    status: 503,
    body: '[-]data_corruption failed: alarm activated: CORRUPT\n\n',
  },
  { alarms: [], target: '/livez/linearizable_read', status: 404, body: '404 page not found\n' },
])('edge 123: $target with alarms $alarms: $status', async ({ alarms, target, status, body }) => {
  for (const kind of alarms) await member.store.activateAlarm(alarm(kind), nodeItself);
  for (const handler of [clientEndpoints(options()), metricsEndpoints(options())]) {
    expect(await ask(handler, target)).toMatchObject({ status, body });
  }
});

test('/health/leader is 200 on the leader alone', async () => {
  expect(await ask(clientEndpoints(options()), '/health/leader')).toMatchObject({
    status: 200,
    body: '{"health":"true","reason":""}',
  });
  const { health } = member;
  const follower = {
    health: health.health.bind(health),
    check: health.check.bind(health),
    leads: () => false,
  };
  for (const changes of [{ checks: follower }, { starting: () => 'starting: x' }]) {
    for (const handler of [clientEndpoints(options(changes)), metricsEndpoints(options(changes))]) {
      const { status, body } = await ask(handler, '/health/leader');
      expect([status, JSON.parse(body)]).toEqual([
        503,
        { health: 'false', reason: 'checks' in changes ? 'NOT LEADER' : 'starting: x' },
      ]);
    }
  }
});

const gateway: Pick<Gateway, 'answer' | 'socket'> = {
  answer: async ({ path }) => ({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from(path),
  }),
  socket: () => ({ protocol: undefined, pieces: (async function* () {})(), message: async () => {} }),
};

test('the paths below /v3/ and /v3beta/ are those of the gateway, if there is one', async () => {
  for (const path of ['/v3/kv/range', '/v3beta/kv/range']) {
    const asked = { method: 'POST' };
    const { status, body, headers } = await ask(clientEndpoints(options(), gateway), path, asked);
    expect([status, body, headers['access-control-allow-origin']]).toEqual([200, path, '*']);
    expect((await ask(clientEndpoints(options()), path, asked)).status).toBe(404);
    expect((await ask(metricsEndpoints(options()), path, asked)).status).toBe(404);
    expect(clientWebSockets(options(), gateway).at(path)).toBe(true);
  }
  expect(clientWebSockets(options(), gateway).at('/health')).toBe(false);
});

test.each([
  { origins: ['*'], origin: 'http://a', status: 200, why: 'all may ask' },
  { origins: ['http://a'], origin: 'http://a', status: 200, why: 'named' },
  { origins: ['http://a'], origin: undefined, status: 200, why: 'no browser' },
  { origins: ['http://a'], origin: 'http://own.example:2379', status: 200, why: 'a page of this host' },
  { origins: ['http://a'], origin: 'http://b', status: 403, why: 'not named' },
  { origins: ['http://a'], origin: 'null', status: 403, why: 'a page of nowhere' },
])(
  'a page of $origin where $origins may ask gets $status of the gateway: $why',
  async ({ origins, origin, status }) => {
    const restricted = options({ corsOrigins: new Set(origins) });
    const asked = { method: 'POST', headers: { host: 'own.example:2379', origin } };
    expect((await ask(clientEndpoints(restricted, gateway), '/v3/kv/range', asked)).status).toBe(status);
    const opened = clientWebSockets(restricted, gateway).open(requestOf('/v3/watch', asked));
    expect('status' in opened ? opened.status : 200).toBe(status);
  },
);

test.each([
  { secure: true, commonName: 'alice', users: true, status: 400, why: 'its name would not count' },
  { secure: true, commonName: '', users: true, status: 200, why: 'no name' },
  { secure: true, commonName: undefined, users: true, status: 200, why: 'no certificate' },
  { secure: true, commonName: 'alice', users: false, status: 200, why: 'names are no users' },
  { secure: false, commonName: undefined, users: true, status: 200, why: 'plain text' },
])(
  'edge 109: a certificate of $commonName at the gateway: $status, $why',
  async ({ secure, commonName, users, status }) => {
    const restricted = options({ namesAreUsers: () => users });
    const asked = { method: 'POST', secure, commonName };
    expect((await ask(clientEndpoints(restricted, gateway), '/v3/kv/range', asked)).status).toBe(status);
    expect((await ask(clientEndpoints(restricted, gateway), '/health', { secure, commonName })).status).toBe(200);
    const opened = clientWebSockets(restricted, gateway).open(requestOf('/v3/watch', asked));
    expect('status' in opened ? opened.status : 200).toBe(status);
  },
);

test('a WebSocket of a host that is not listed is refused', () => {
  const sockets = clientWebSockets(options({ hostWhitelist: new Set(['good.example']) }), gateway);
  expect(sockets.open(requestOf('/v3/watch', { headers: { host: 'evil.example' } }))).toMatchObject({ status: 421 });
});

test.each(['/health', '/livez', '/readyz', '/version', '/livez/serializable_read', '/debug/vars', '/health/leader'])(
  'edge 124: %s takes GET alone',
  async (target) => {
    const refusal = await ask(clientEndpoints(options()), target, { method: 'POST' });
    expect(refusal).toMatchObject({ status: 405, headers: { allow: 'GET' }, body: 'Method Not Allowed\n' });
  },
);

test('/version names the versions of server, cluster and storage', async () => {
  const { headers, body } = await ask(clientEndpoints(options()), '/version');
  expect(headers['content-type']).toBe('application/json');
  expect(JSON.parse(body)).toEqual({ etcdserver: '3.7.3', etcdcluster: '3.7.0', storage: '3.7.0' });
});

test('/debug/vars is JSON, with the names of etcd that have a meaning here', async () => {
  expect(JSON.parse((await ask(clientEndpoints(options()), '/debug/vars')).body)).toMatchObject({
    cmdline: process.argv,
    file_descriptor_limit: expect.any(Number),
    memstats: { Sys: expect.any(Number) },
  });
});

test('checks are counted, and /metrics shows it', async () => {
  const handler = clientEndpoints(options());
  await ask(handler, '/health');
  await ask(handler, '/readyz');
  const { headers, body } = await ask(handler, '/metrics');
  expect(headers['content-type']).toMatch(/^text\/plain; version=0\.0\.4/);
  expect(body).toContain('etcd_server_health_success 1');
  expect(body).toContain('etcd_server_healthchecks_total{type="readyz",name="non_learner",status="success"} 1');
});

test.each([
  { origins: ['*'], origin: 'http://a', allowed: '*', why: 'all may ask' },
  { origins: [], origin: 'http://a', allowed: '*', why: 'an empty list is no rule' },
  { origins: ['http://a'], origin: 'http://a', allowed: 'http://a', why: 'named' },
  { origins: ['http://a'], origin: 'http://b', allowed: undefined, why: 'not named' },
  { origins: ['http://a'], origin: undefined, allowed: undefined, why: 'no browser' },
])('an answer to origin $origin where $origins may ask allows $allowed: $why', async ({ origins, origin, allowed }) => {
  const handler = clientEndpoints(options({ corsOrigins: new Set(origins) }));
  for (const method of ['GET', 'OPTIONS']) {
    const { status, headers } = await ask(handler, '/health', { method, headers: { host: 'a', origin } });
    expect(status).toBe(200);
    expect(headers['access-control-allow-origin']).toBe(allowed);
  }
});

test.each([
  { host: 'good.example:2379', secure: false, status: 200, why: 'named' },
  { host: '[::1]:2379', secure: false, status: 200, why: 'named, in brackets' },
  { host: 'evil.example:2379', secure: false, status: 421, why: 'not named' },
  { host: undefined, secure: false, status: 421, why: 'no name at all' },
  { host: 'evil.example', secure: true, status: 200, why: 'a certificate has shown who we are' },
])('host $host where hosts are listed: $status ($why)', async ({ host, secure, status }) => {
  const handler = clientEndpoints(options({ hostWhitelist: new Set(['good.example', '::1']) }));
  expect((await ask(handler, '/health', { secure, headers: { host } })).status).toBe(status);
});
