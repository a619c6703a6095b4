import { loadRoot, messageSet } from '@engram/protobuf/schema';
import { protoFiles, reflectionpb } from '@engram/wire';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { Api } from './api.ts';
import { AuthClient, fakeAuth } from './auth-client.ts';
import type { FakeCall } from './fake-call.ts';

/* gRPC's reflection: services and the files that describe them. */

const names = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'];
let api: Api;
beforeEach(async () => {
  api = await Api.open({ services: { auth: fakeAuth() } });
});
afterEach(() => api[Symbol.asyncDispose]());

type Request = Parameters<typeof reflectionpb.encodeServerReflectionRequest>[0];
const open = (service = names[0]!): FakeCall => api.bidi(`/${service}/ServerReflectionInfo`);
function ask(call: FakeCall, request: Request): reflectionpb.ServerReflectionResponse {
  call.request(reflectionpb.encodeServerReflectionRequest(request));
  return reflectionpb.decodeServerReflectionResponse(call.sent.at(-1)!);
}

/** The fields of a message by their numbers, without a schema. */
class Fields {
  readonly #values = new Map<number, (number | Uint8Array)[]>();

  constructor(bytes: Uint8Array) {
    let at = 0;
    const varint = (): number => {
      for (let value = 0, factor = 1; ; factor *= 0x80) {
        const byte = bytes[at]!;
        at += 1;
        value += (byte & 0x7f) * factor;
        if (byte < 0x80) return value;
      }
    };
    while (at < bytes.length) {
      const tag = varint();
      const number = varint();
      const list = this.#values.get(tag >>> 3) ?? [];
      this.#values.set(tag >>> 3, list);
      if ((tag & 7) === 0) list.push(number);
      else {
        list.push(bytes.subarray(at, at + number));
        at += number;
      }
    }
  }

  texts(field: number): readonly string[] {
    return (this.#values.get(field) ?? []).map((value) => Buffer.from(value as Uint8Array).toString());
  }

  text(field: number): string {
    return this.texts(field)[0] ?? '';
  }

  number(field: number): number | undefined {
    return this.#values.get(field)?.[0] as number | undefined;
  }

  parts(field: number): readonly Fields[] {
    return (this.#values.get(field) ?? []).map((value) => new Fields(value as Uint8Array));
  }
}

/** As much of google/protobuf/descriptor.proto as the tests look at, by the numbers of its fields. */
interface Described {
  readonly name: string;
  readonly package: string;
  readonly service: readonly { readonly name: string; readonly method: readonly MethodDescription[] }[];
  readonly messageType: readonly MessageDescription[];
}
interface MethodDescription {
  readonly name: string;
  readonly clientStreaming: boolean;
  readonly serverStreaming: boolean;
}
interface MessageDescription {
  readonly name: string;
  readonly field: readonly (readonly unknown[])[];
  readonly nestedType: readonly MessageDescription[];
}

const messageOf = (message: Fields): MessageDescription => {
  const oneofs = message.parts(8).map((oneof) => oneof.text(1));
  return {
    name: message.text(1),
    field: message
      .parts(2)
      .map((field) => [
        field.text(1),
        field.number(3),
        field.number(4) === 3,
        field.text(6),
        oneofs[field.number(9) ?? -1],
      ]),
    nestedType: message.parts(3).map(messageOf),
  };
};

function described(bytes: Uint8Array): Described {
  const file = new Fields(bytes);
  return {
    name: file.text(1),
    package: file.text(2),
    messageType: file.parts(4).map(messageOf),
    service: file.parts(6).map((service) => ({
      name: service.text(1),
      method: service.parts(2).map((method) => ({
        name: method.text(1),
        clientStreaming: method.number(5) === 1,
        serverStreaming: method.number(6) === 1,
      })),
    })),
  };
}

const filesOf = ({ fileDescriptorResponse: files }: reflectionpb.ServerReflectionResponse): Described[] =>
  files!.fileDescriptorProto.map(described);

test.each(names)('%s lists the services that are served, itself among them', (service) => {
  const {
    listServicesResponse: list,
    validHost,
    originalRequest,
  } = ask(open(service), { host: 'h', listServices: '*' });
  expect(list!.service.map(({ name }) => name)).toEqual([
    'etcdserverpb.Auth',
    'etcdserverpb.Cluster',
    'etcdserverpb.KV',
    'etcdserverpb.Lease',
    'etcdserverpb.Maintenance',
    'etcdserverpb.Watch',
    'grpc.health.v1.Health',
    ...names,
    'v3electionpb.Election',
    'v3lockpb.Lock',
  ]);
  expect([validHost, originalRequest?.listServices]).toEqual(['h', '*']);
});

test('every service that is listed is described, with the methods that are served', () => {
  const call = open();
  const services = ask(call, { listServices: '' }).listServicesResponse!.service.map(({ name }) => name);
  const found = services.flatMap((service) => {
    const [file] = filesOf(ask(open(), { fileContainingSymbol: service }));
    const found = file!.service.find(({ name }) => `${file!.package}.${name}` === service);
    return found!.method.map(({ name, clientStreaming, serverStreaming }) => [
      `/${service}/${name}`,
      clientStreaming ? 'bidi' : serverStreaming ? 'server-stream' : 'unary',
    ]);
  });
  expect(new Map(found as [string, string][])).toEqual(
    new Map([...api.methods].map(([path, { kind }]) => [path, kind])),
  );
});

test('a file comes with all that it imports, and on one stream only once', () => {
  const call = open();
  const lock = 'etcd/server/v3lockpb/v3lock.proto';
  const [first, ...imported] = filesOf(ask(call, { fileByFilename: lock }));
  expect(first!.name).toBe(lock);
  expect(imported.map(({ name }) => name).toSorted()).toEqual([
    'etcd/api/authpb/auth.proto',
    'etcd/api/etcdserverpb/rpc.proto',
    'etcd/api/mvccpb/kv.proto',
  ]);
  const again = filesOf(ask(call, { fileContainingSymbol: 'v3electionpb.LeaderKey' }));
  expect(again.map(({ name }) => name)).toEqual(['etcd/server/v3electionpb/v3election.proto']);
  expect(filesOf(ask(call, { fileByFilename: lock })).map(({ name }) => name)).toEqual([lock]);
});

test('what a stream has got, another one gets as well', () => {
  const lock = { fileByFilename: 'etcd/server/v3lockpb/v3lock.proto' };
  const first = ask(open(), lock).fileDescriptorResponse!.fileDescriptorProto.length;
  expect(first).toBe(4);
  for (const service of names)
    expect(ask(open(service), lock).fileDescriptorResponse!.fileDescriptorProto.length).toBe(first);
});

test.each([
  ['etcdserverpb.KV.Range', 'etcd/api/etcdserverpb/rpc.proto'],
  ['etcdserverpb.RangeRequest', 'etcd/api/etcdserverpb/rpc.proto'],
  ['etcdserverpb.RangeRequest.SortOrder', 'etcd/api/etcdserverpb/rpc.proto'],
  ['etcdserverpb.RangeRequest.ASCEND', 'etcd/api/etcdserverpb/rpc.proto'],
  ['etcdserverpb.RangeRequest.limit', 'etcd/api/etcdserverpb/rpc.proto'],
  ['etcdserverpb.RequestOp.request', 'etcd/api/etcdserverpb/rpc.proto'],
  ['mvccpb.KeyValue', 'etcd/api/mvccpb/kv.proto'],
])('symbol %s is in %s', (symbol, file) => {
  expect(filesOf(ask(open(), { fileContainingSymbol: symbol }))[0]!.name).toBe(file);
});

test('what nobody knows is answered, and the stream goes on', () => {
  const call = open();
  const unknown = { errorCode: 5, errorMessage: 'proto: not found' };
  expect(ask(call, { fileByFilename: 'none.proto' }).errorResponse).toEqual(unknown);
  expect(ask(call, { fileContainingSymbol: 'etcdserverpb' }).errorResponse).toEqual(unknown);
  const extension = { containingType: 'mvccpb.KeyValue', extensionNumber: 1 };
  expect(ask(call, { fileContainingExtension: extension }).errorResponse).toEqual(unknown);
  expect(ask(call, { allExtensionNumbersOfType: 'none' }).errorResponse).toEqual(unknown);
  expect(ask(call, { allExtensionNumbersOfType: 'mvccpb.KeyValue' }).allExtensionNumbersResponse).toEqual({
    baseTypeName: 'mvccpb.KeyValue',
    extensionNumber: [],
  });
  call.halfClose();
  expect(call.status).toEqual({ code: 0, message: '' });
});

test('a question of no kind, and bytes that are no message, end the stream', () => {
  const none = open();
  none.request(new Uint8Array(0));
  expect(none.status).toEqual({ code: 3, message: 'invalid MessageRequest: <nil>' });
  expect(none.sent).toEqual([]);
  const broken = open();
  broken.request(Uint8Array.of(0xff));
  expect(broken.status?.code).toBe(13);
});

test('a client that reads nothing is disconnected', () => {
  const call = open();
  call.stalled = true;
  for (let at = 0; at < 1_000 && call.status === undefined; at += 1) {
    call.request(reflectionpb.encodeServerReflectionRequest({ fileByFilename: 'etcd/api/etcdserverpb/rpc.proto' }));
  }
  expect(call.status).toEqual({
    code: 14,
    message: 'grpc: reflection stream closed: the client does not read its responses',
  });
});

test('it needs no user: what it says is public', async () => {
  const anybody = new AuthClient(api.methods);
  await anybody.enableWithRoot();
  for (const name of names) {
    const call = anybody.bidi(`/${name}/ServerReflectionInfo`);
    expect(ask(call, { listServices: '' }).listServicesResponse?.service.length).toBe(11);
  }
});

test('descriptors say of every message what its .proto file says', () => {
  const root = loadRoot(messageSet('etcd'));
  const fields = new Map<string, unknown>();
  const visit = (message: MessageDescription, scope: string): void => {
    const name = `${scope}.${message.name}`;
    fields.set(name, message.field);
    for (const nested of message.nestedType) visit(nested, name);
  };
  for (const { base64 } of protoFiles) {
    const file = described(Buffer.from(base64, 'base64'));
    for (const message of file.messageType) visit(message, file.package);
  }
  for (const [name, found] of fields) {
    // protobufjs has no messages for the entries of maps.
    if (name.startsWith('grpc.reflection.v1alpha') || name.startsWith('grpc.health.v1.HealthListResponse')) continue;
    const type = root.lookupType(name);
    const wanted = type.fieldsArray.map((field) => [
      field.name,
      field.id,
      field.repeated,
      field.resolvedType?.fullName ?? '',
      field.partOf?.name,
    ]);
    expect(found, name).toEqual(wanted);
  }
  expect(fields.size).toBeGreaterThan(120);
});
