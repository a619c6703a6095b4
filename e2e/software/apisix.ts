import { Agent, type IncomingMessage, request } from 'node:http';
import { createInterface } from 'node:readline';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { haveUsers } from '../support/have-users.ts';
import { type Judge, equal } from '../support/judge.ts';
import { until } from './program.ts';

const WAIT_MAX_MS = 20_000;
const ROOT = { name: 'root', password: 'of-root', prefix: undefined } as const;
const USER = { name: 'apisix', password: 'of-apisix', prefix: '/apisix/' } as const;

type Json = Readonly<Record<string, unknown>>;

/**
 * The gateway as APISIX uses it by lua-resty-etcd: the version first, a log-in whose token it keeps, a whole prefix, then one watch from
 * the revision behind it on, by HTTP/1.1 on connections that stay open. Its administration writes by transactions with the names of
 * fields in the camel's form. Its configuration follows a watch over compactions, ends of tokens and of the store.
 */
export async function apisix(judge: Judge, folder: string): Promise<void> {
  const place = await newStorePlace(folder);
  let store = await StoreProcess.start(place);
  const gateway = new Gateway(store.place.clientPort);
  try {
    await haveUsers(store.endpoint, [ROOT, USER]);
    let revision = 0;
    const checks: Readonly<Record<string, () => Promise<void>>> = {
      version: async () => {
        const answer = await gateway.ask('/version', undefined);
        equal('version', /^3\.\d+\.\d+$/.test(String(answer.json['etcdserver'])), true);
      },
      'log-in': async () => {
        await gateway.logIn();
        equal('wrong', (await gateway.ask('/v3/auth/authenticate', { name: 'apisix', password: '' })).status, 400);
      },
      administration: async () => {
        const put = { requestPut: { key: key('routes/1'), value: base64('{"uri":"/a"}') } };
        const made = await gateway.ask('/v3/kv/txn', {
          compare: [{ key: key('routes/1'), target: 'CREATE', createRevision: '0', result: 'EQUAL' }],
          success: [put],
          failure: [{ requestRange: { key: key('routes/1') } }],
        });
        equal('made', made.json['succeeded'], true);
        for (const at of [2, 3]) await gateway.put(`routes/${at}`, `{"uri":"/${at}"}`);
        // Its directories are keys whose value is this.
        await gateway.put('consumers/', 'init_dir');
      },
      'the whole prefix': async () => {
        const { json } = await gateway.ask('/v3/kv/range', {
          key: key(''),
          range_end: base64('/apisix0'),
          sort_order: 'ASCEND',
          sort_target: 'KEY',
        });
        const kvs = list(json['kvs']).map((kv) => text(kv['key']));
        equal('keys', kvs.join(), '/apisix/consumers/,/apisix/routes/1,/apisix/routes/2,/apisix/routes/3');
        equal('count', json['count'], '4');
        revision = Number(object(json['header'])['revision']);
      },
      'a watch from there on, whose connection another request does not take': async () => {
        await using watch = await gateway.watch(revision + 1);
        await gateway.put('routes/1', 'changed');
        await gateway.ask('/v3/kv/deleterange', { key: key('routes/2') });
        const [put, deletion] = await watch.events(2);
        equal('put', text(object(put?.['kv'])['value']), 'changed');
        // The type of a put is the default, which JSON leaves out.
        equal('types', `${String(put?.['type'])} ${String(deletion?.['type'])}`, 'undefined DELETE');
      },
      'a watch of what was compacted, which says from where on it may begin': async () => {
        const { json } = await gateway.ask('/v3/auth/authenticate', { name: ROOT.name, password: ROOT.password });
        const latest = Number(object((await gateway.put('routes/3', 'again'))['header'])['revision']);
        await gateway.ask('/v3/kv/compaction', { revision: String(latest) }, String(json['token']));
        await using watch = await gateway.watch(1);
        const ended = await watch.until((result) => result['canceled'] === true);
        equal('compacted', ended['compact_revision'], String(latest));
      },
      'a lease, renewed by single requests': async () => {
        const { json } = await gateway.ask('/v3/lease/grant', { TTL: 60 });
        const lease = json['ID'];
        await gateway.ask('/v3/kv/put', { key: key('data_plane/1'), value: base64('up'), lease });
        const kept = await gateway.ask('/v3/lease/keepalive', { ID: lease });
        equal('renewed', object(kept.json['result'])['TTL'], '60');
        const left = await gateway.ask('/v3/lease/timetolive', { ID: lease, keys: true });
        equal('its keys', text(JSON.stringify(left.json['keys']).slice(2, -2)), '/apisix/data_plane/1');
        equal('revoked', (await gateway.ask('/v3/lease/revoke', { ID: lease })).status, 200);
      },
      'what it may not': async () => {
        const denied = await gateway.ask('/v3/kv/put', { key: base64('/other'), value: '' });
        equal('status', `${denied.status} ${String(denied.json['message'])}`, '403 etcdserver: permission denied');
      },
      'the end of the store: a new log-in and a watch from where the last one ended': async () => {
        const before = Number(object((await gateway.put('routes/4', 'before'))['header'])['revision']);
        await using watch = await gateway.watch(before + 1);
        await store.kill();
        await watch.ended();
        store = await StoreProcess.start(place);
        await until('a log-in', WAIT_MAX_MS, async () => {
          await gateway.logIn();
          return true;
        });
        await gateway.put('routes/5', 'after');
        await using again = await gateway.watch(before + 1);
        const [event] = await again.events(1);
        equal('the next', text(object(event?.['kv'])['key']), '/apisix/routes/5');
      },
    };
    for (const [what, work] of Object.entries(checks)) await judge.check(`apisix: ${what}`, work);
  } finally {
    gateway.close();
    await store.kill();
  }
}

interface Answer {
  readonly status: number;
  readonly json: Json;
}

class Gateway {
  readonly #port: number;
  readonly #agent = new Agent({ keepAlive: true });
  #token = '';

  constructor(port: number) {
    this.#port = port;
  }

  async logIn(): Promise<void> {
    const answer = await this.ask('/v3/auth/authenticate', { name: USER.name, password: USER.password }, '');
    equal('log-in', answer.status, 200);
    this.#token = String(answer.json['token']);
  }

  async put(name: string, value: string): Promise<Json> {
    const answer = await this.ask('/v3/kv/put', { key: key(name), value: base64(value) });
    equal(`put of ${name}`, answer.status, 200);
    return answer.json;
  }

  async ask(path: string, body: object | undefined, token = this.#token): Promise<Answer> {
    const response = await this.#send(path, body, token);
    let content = '';
    for await (const piece of response.setEncoding('utf8')) content += String(piece);
    return { status: response.statusCode ?? 0, json: object(JSON.parse(content)) };
  }

  async watch(startRevision: number): Promise<WatchLines> {
    const create = { key: key(''), range_end: base64('/apisix0'), start_revision: startRevision, need_prev_kv: true };
    const watch = new WatchLines(await this.#send('/v3/watch', { create_request: create }, this.#token));
    await watch.until((result) => result['created'] === true);
    return watch;
  }

  close(): void {
    this.#agent.destroy();
  }

  #send(path: string, body: object | undefined, token: string): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = token === '' ? {} : { authorization: token };
      const asked = request(
        { port: this.#port, path, method: body === undefined ? 'GET' : 'POST', agent: this.#agent, headers },
        resolve,
      );
      asked.setTimeout(WAIT_MAX_MS, () => asked.destroy(new Error(`${path}: no answer`)));
      asked.once('error', reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

/** The lines of a watch, each with one answer. */
class WatchLines implements AsyncDisposable {
  readonly #response: IncomingMessage;
  readonly #lines: AsyncIterator<string>;

  constructor(response: IncomingMessage) {
    this.#response = response;
    // The end of a store is an error here, and the end of the lines.
    response.on('error', () => {});
    this.#lines = createInterface({ input: response })[Symbol.asyncIterator]();
  }

  async until(fits: (result: Json) => boolean): Promise<Json> {
    for (;;) {
      const result = await this.#next();
      if (result === undefined) throw new Error('the watch has ended');
      if (fits(result)) return result;
    }
  }

  async events(count: number): Promise<readonly Json[]> {
    const events: Json[] = [];
    while (events.length < count) events.push(...list((await this.until(() => true))['events']));
    return events;
  }

  async ended(): Promise<void> {
    while ((await this.#next().catch(() => undefined)) !== undefined);
  }

  async #next(): Promise<Json | undefined> {
    const { value, done } = await this.#lines.next();
    return done === true ? undefined : object(object(JSON.parse(value))['result']);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#response.destroy();
  }
}

const base64 = (content: string): string => Buffer.from(content).toString('base64');
const key = (name: string): string => base64(`/apisix/${name}`);
const text = (value: unknown): string => Buffer.from(String(value), 'base64').toString();

function object(value: unknown): Json {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

const list = (value: unknown): readonly Json[] => (Array.isArray(value) ? value.map(object) : []);
