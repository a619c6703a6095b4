import type { GatewayRequest } from './gateway-request.ts';

/** The headers that grpc-gateway hands on under `grpcgateway-` (runtime/context.go: isPermanentHTTPHeader). */
const permanent: ReadonlySet<string> = new Set([
  'accept',
  'accept-charset',
  'accept-language',
  'accept-ranges',
  'authorization',
  'cache-control',
  'content-type',
  'cookie',
  'date',
  'expect',
  'from',
  'host',
  'if-match',
  'if-modified-since',
  'if-none-match',
  'if-schedule-tag-match',
  'if-unmodified-since',
  'max-forwards',
  'origin',
  'pragma',
  'referer',
  'user-agent',
  'via',
  'warning',
]);

const PREFIX = 'grpcgateway-';
/** What a client may set of the call's metadata: `Grpc-Metadata-hasleader`, for one. */
const METADATA = 'grpc-metadata-';

/**
 * The metadata of a call by the headers of its request, as grpc-gateway makes it: `authorization` as it is, others that HTTP knows
 * under `grpcgateway-`, and those that begin with `Grpc-Metadata-` without that. Values that are no ASCII text are left out.
 */
export function metadataOf({ headers }: Pick<GatewayRequest, 'headers'>, name: string): string | undefined {
  const value = headerOf(headers, name);
  return value === undefined || /[^\x20-\x7e]/.test(value) ? undefined : value;
}

function headerOf(headers: GatewayRequest['headers'], name: string): string | undefined {
  if (name.endsWith('-bin')) return undefined;
  if (name === 'authorization') return headers['authorization'] ?? headers[`${METADATA}authorization`];
  if (name === 'x-forwarded-host') return headers['x-forwarded-host'] ?? headers['host'];
  if (name.startsWith(PREFIX)) {
    const header = name.slice(PREFIX.length);
    if (permanent.has(header)) return headers[header];
  }
  return headers[`${METADATA}${name}`];
}
