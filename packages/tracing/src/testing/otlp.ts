import * as grpc from '@grpc/grpc-js';

/** What the messages of all signals of OTLP (opentelemetry-proto v1.9) have in common, as far as tests look at it. */
export const OTLP_COMMON = `
syntax = "proto3";
message Resource { repeated KeyValue attributes = 1; }
message KeyValue { string key = 1; AnyValue value = 2; }
message AnyValue { oneof value { string string_value = 1; bool bool_value = 2; int64 int_value = 3; double double_value = 4; } }
message Scope { string name = 1; string version = 2; }
`;

/** Attributes, each of the type with which it was sent. */
export type Values = Readonly<Record<string, string | number | boolean>>;

/** The answer to a request; undefined: none. */
export type ExportAnswer = (bytes: Uint8Array, headers: Readonly<Record<string, string>>) => Buffer | undefined;

export interface ServedExports {
  readonly port: number;
  readonly close: () => void;
}

/** Takes the exports of one signal over gRPC in plain text on a free port of the loopback. */
export async function serveExports(path: string, answer: ExportAnswer): Promise<ServedExports> {
  const server = new grpc.Server();
  const same = (bytes: Buffer): Buffer => bytes;
  const method = {
    path,
    requestStream: false,
    responseStream: false,
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  };
  const handler: grpc.handleUnaryCall<Buffer, Buffer> = ({ request, metadata }, callback) => {
    const headers = Object.fromEntries(Object.entries(metadata.getMap()).map(([name, value]) => [name, String(value)]));
    const bytes = answer(request, headers);
    if (bytes !== undefined) callback(null, bytes);
  };
  server.addService({ export: method }, { export: handler });
  const port = await new Promise<number>((resolve, reject) => {
    server.bindAsync('127.0.0.1:0', grpc.ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  return { port, close: () => server.forceShutdown() };
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null;
export const field = (value: unknown, name: string): unknown => (isObject(value) ? value[name] : undefined);
export const list = (value: unknown, name: string): readonly unknown[] => {
  const items = field(value, name);
  return Array.isArray(items) ? items : [];
};
export const text = (value: unknown, name: string): string => String(field(value, name) ?? '');
export const hex = (value: unknown, name: string): string => {
  const bytes = field(value, name);
  return bytes instanceof Uint8Array ? Buffer.from(bytes).toString('hex') : '';
};
/** A time in nanoseconds, in milliseconds. */
export const ms = (value: unknown, name: string): number => Number(field(value, name) ?? 0) / 1e6;

export function valuesOf(holder: unknown): Values {
  const values: Record<string, string | number | boolean> = {};
  for (const item of list(holder, 'attributes')) {
    const value = field(item, 'value');
    const [kind = ''] = isObject(value) ? Object.keys(value) : [];
    const plain = field(value, kind);
    values[text(item, 'key')] =
      kind === 'string_value' ? String(plain) : typeof plain === 'boolean' ? plain : Number(plain);
  }
  return values;
}
