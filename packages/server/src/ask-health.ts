import { readFileSync } from 'node:fs';
import { request as requestPlain } from 'node:http';
import { request as requestSecure, type RequestOptions } from 'node:https';
import type { NodeConfig } from './config/node-config.ts';
import type { ServeUrl } from './flags/urls.ts';

/** How long a member may take to answer. A prober waits longer than that, and then reads why. */
const ANSWER_MAX_MS = 4000;
/** The lines of /readyz are a few hundred bytes. */
const ANSWER_BYTES_MAX = 64 << 10;

export interface Health {
  readonly ready: boolean;
  /** One line: the URL, and what the member or the connection to it said. */
  readonly text: string;
}

/**
 * Asks the member with this configuration, on this machine, whether it is ready (/readyz). The metrics URLs come first,
 * because they answer during the start. Never rejects.
 */
export async function askHealth(config: Pick<NodeConfig, HealthSettings>): Promise<Health> {
  const [url] = [...config.listenMetricsUrls, ...config.listenClientHttpUrls, ...config.listenClientUrls];
  try {
    const { status, body } = await get(url!, hostIn(config.hostWhitelist), ownCertificate(config.tls));
    const ready = status === 200;
    return { ready, text: `${url!.text}: ${ready ? 'ready' : `${status} ${body.trim().replaceAll('\n', '; ')}`}` };
  } catch (error) {
    return { ready: false, text: `${url!.text}: ${problemOf(error)}` };
  }
}

type HealthSettings = 'listenMetricsUrls' | 'listenClientHttpUrls' | 'listenClientUrls' | 'hostWhitelist' | 'tls';

/** A host that the member may be asked for. */
function hostIn(whitelist: ReadonlySet<string>): string {
  if (whitelist.size === 0 || whitelist.has('*') || whitelist.has('localhost')) return 'localhost';
  const [host = ''] = whitelist;
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * The member's certificate, as a client: its URLs may ask for one. Who answers is not verified, because nothing secret is
 * sent, and a certificate need not name the loopback.
 */
function ownCertificate(tls: NodeConfig['tls']): RequestOptions {
  const files = tls !== undefined && 'certFile' in tls ? tls : undefined;
  return {
    rejectUnauthorized: false,
    ...(files === undefined ? {} : { cert: readFileSync(files.certFile), key: readFileSync(files.keyFile) }),
  };
}

function get(url: ServeUrl, host: string, tls: RequestOptions): Promise<{ status: number; body: string }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: string }>();
  const options: RequestOptions = {
    ...(url.path === undefined ? { host: reachable(url.host), port: url.port } : { socketPath: url.path }),
    path: '/readyz',
    agent: false,
    headers: { host },
    signal: AbortSignal.timeout(ANSWER_MAX_MS),
  };
  const request = url.secure ? requestSecure({ ...options, ...tls }) : requestPlain(options);
  request.on('error', reject);
  request.on('response', (response) => {
    let body = '';
    response.setEncoding('utf8');
    response.on('data', (part: string) => {
      body = (body + part).slice(0, ANSWER_BYTES_MAX);
    });
    response.on('error', reject);
    response.on('end', () => resolve({ status: response.statusCode ?? 0, body }));
  });
  request.end();
  return promise;
}

function problemOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.name === 'AbortError' ? `no answer within ${ANSWER_MAX_MS} ms` : error.message;
}

/** Where a process of the same machine reaches a listener of every address. */
const reachable = (host: string): string => (host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host);
