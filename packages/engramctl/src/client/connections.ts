import { Resolver } from 'node:dns/promises';
import { badArguments, CtlError, messageOf } from '../cli/ctl-error.ts';
import type { CommandRun } from '../cli/command.ts';
import type { Flags } from '../cli/flags.ts';
import { calls } from './calls.ts';
import { type Endpoint, parseEndpoint } from './endpoint.ts';
import { type ClientOptions, EtcdClient } from './etcd-client.ts';
import { isRpcError, RpcError } from './rpc-error.ts';
import { readTls } from './tls-files.ts';

/** A page of a range is smaller than this by far, or is asked for again in parts. */
const RECEIVE_BYTES_MAX = 64 << 20;
const SEND_BYTES_MAX = 2 << 20;
const AUTH_NOT_ENABLED = 'authentication is not enabled';

/** The longest time of a timer of node: 24 days. A longer one would be over at once. */
const TIMER_MS_MAX = 2 ** 31 - 1;

/** How to reach a cluster, from the global flags. */
export interface Connections {
  readonly endpoints: readonly Endpoint[];
  readonly options: ClientOptions;
}

/** Rejects with CtlError bad-arguments, bad-connection where no endpoint takes the password, or the signal's reason. */
export async function connectionsOf(run: CommandRun): Promise<Connections> {
  const { flags, signal } = run;
  const texts = await endpointTexts(run);
  const endpoints = texts.map(parseEndpoint);
  if (endpoints.length === 0) throw badArguments('no endpoints');
  const options: ClientOptions = {
    tls: tlsFromFlags(flags),
    dialTimeoutMs: positive(flags, 'dial-timeout'),
    commandTimeoutMs: positive(flags, 'command-timeout'),
    keepaliveTimeMs: timerMs(flags, 'keepalive-time'),
    keepaliveTimeoutMs: timerMs(flags, 'keepalive-timeout'),
    receiveBytesMax: flags.int('max-recv-bytes') > 0 ? flags.int('max-recv-bytes') : RECEIVE_BYTES_MAX,
    sendBytesMax: flags.int('max-request-bytes') > 0 ? flags.int('max-request-bytes') : SEND_BYTES_MAX,
    token: undefined,
  };
  const token = await tokenOf(run, { endpoints, options }, signal);
  return { endpoints, options: { ...options, token } };
}

/** A client of the first endpoint that answers. Rejects with CtlError bad-connection if none does. */
export async function firstClient({ endpoints, options }: Connections, signal: AbortSignal): Promise<EtcdClient> {
  const problems: string[] = [];
  for (const endpoint of endpoints) {
    const client = new EtcdClient(endpoint, options);
    try {
      // Any key will do: whoever answers, and if it is a refusal, is there.
      await client.unary(calls.range, { key: Buffer.from('health'), serializable: true, countOnly: true }, signal);
      return client;
    } catch (error) {
      if (isRpcError(error, 'PERMISSION_DENIED')) return client;
      client[Symbol.dispose]();
      signal.throwIfAborted();
      problems.push(`${endpoint.text}: ${messageOf(error)}`);
    }
  }
  throw new CtlError('bad-connection', `no endpoint answers: ${problems.join('; ')}`);
}

function tlsFromFlags(flags: Flags): ClientOptions['tls'] {
  for (const name of ['cert', 'key', 'cacert']) {
    if (flags.changed(name) && flags.text(name) === '') {
      throw badArguments(`empty string is passed to --${name} option`);
    }
  }
  return readTls({
    cert: flags.text('cert'),
    key: flags.text('key'),
    cacert: flags.text('cacert'),
    insecureTransport: flags.bool('insecure-transport'),
    skipVerify: flags.bool('insecure-skip-tls-verify'),
    serverName: flags.bool('insecure-discovery') ? '' : flags.text('discovery-srv'),
  });
}

const timerMs = (flags: Flags, name: string): number => Math.min(flags.durationMs(name), TIMER_MS_MAX);

function positive(flags: Flags, name: string): number {
  const ms = timerMs(flags, name);
  if (ms <= 0) throw badArguments(`--${name} must be above 0: every wait has an end`);
  return ms;
}

/** etcd client/pkg/srv: `_etcd-client-ssl._tcp` gives https, `_etcd-client._tcp` http. */
async function endpointTexts({ flags, printer }: CommandRun): Promise<readonly string[]> {
  const domain = flags.text('discovery-srv');
  if (domain === '') return flags.list('endpoints');
  const suffix = flags.text('discovery-srv-name') === '' ? '' : `-${flags.text('discovery-srv-name')}`;
  const resolver = new Resolver({ timeout: positive(flags, 'dial-timeout'), tries: 1 });
  const found = async (service: string, scheme: string): Promise<readonly string[]> =>
    (await resolver.resolveSrv(`_${service}${suffix}._tcp.${domain}`)).map(
      ({ name, port }) => `${scheme}://${name.replace(/\.$/, '')}:${port}`,
    );
  const [secure, plain] = await Promise.allSettled([found('etcd-client-ssl', 'https'), found('etcd-client', 'http')]);
  if (secure.status === 'rejected' && plain.status === 'rejected') {
    const why = `dns lookup errors: ${messageOf(secure.reason)} and ${messageOf(plain.reason)}`;
    throw new CtlError('bad-connection', why, { cause: secure.reason });
  }
  const https = secure.status === 'fulfilled' ? secure.value : [];
  const http = plain.status === 'fulfilled' ? plain.value : [];
  if (flags.bool('insecure-discovery')) return [...https, ...http];
  for (const text of http) await printer.note(`ignoring discovered insecure endpoint ${JSON.stringify(text)}\n`);
  return https;
}

/** The token of --auth-jwt-token, or what the cluster gives for a user and a password. */
async function tokenOf(run: CommandRun, connections: Connections, signal: AbortSignal): Promise<string | undefined> {
  const { flags } = run;
  const jwt = flags.text('auth-jwt-token');
  if (jwt !== '') return jwt;
  const user = flags.text('user');
  if (user === '') return undefined;
  const { name, password } = await namedUser(run, user);
  const problems: string[] = [];
  for (const endpoint of connections.endpoints) {
    using client = new EtcdClient(endpoint, connections.options);
    try {
      return (await client.unary(calls.authenticate, { name, password }, signal)).token;
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof RpcError)) throw error;
      const { message } = error;
      if (message.endsWith(AUTH_NOT_ENABLED)) return undefined;
      if (!isRpcError(error, 'UNAVAILABLE') && !isRpcError(error, 'DEADLINE_EXCEEDED')) {
        throw new CtlError('bad-connection', message, { cause: error });
      }
      problems.push(`${endpoint.text}: ${message}`);
    }
  }
  throw new CtlError('bad-connection', `no endpoint answers: ${problems.join('; ')}`);
}

async function namedUser(
  { flags, askPassword }: CommandRun,
  user: string,
): Promise<{ readonly name: string; readonly password: string }> {
  const given = flags.text('password');
  if (given !== '') return { name: user, password: given };
  const colon = user.indexOf(':');
  if (colon >= 0) return { name: user.slice(0, colon), password: user.slice(colon + 1) };
  return { name: user, password: await askPassword() };
}
