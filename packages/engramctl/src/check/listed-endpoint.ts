import { messageOf } from '../cli/ctl-error.ts';
import type { Connections } from '../client/connections.ts';
import { type Endpoint, parseEndpoint } from '../client/endpoint.ts';
import { tlsOf } from '../client/etcd-client.ts';

/**
 * The endpoint at a URL of the list of members. Who was given a token and TLS for it does not send the token in plain text because a
 * list says so.
 */
export function listedEndpoint(
  url: string,
  { endpoints, options }: Connections,
): Endpoint | { readonly problem: string } {
  let endpoint: Endpoint;
  try {
    endpoint = parseEndpoint(url);
  } catch (error) {
    return { problem: messageOf(error) };
  }
  const isPlain = tlsOf(endpoint, options.tls) === undefined;
  const wasPlain = endpoints.some((given) => tlsOf(given, options.tls) === undefined);
  if (!isPlain || wasPlain || options.token === undefined) return endpoint;
  return { problem: 'not asked, because a token would go there in plain text: name it in --endpoints if it may' };
}
