import { GrpcCode } from '@engram/core';
import {
  type Method,
  type MethodTable,
  type ProtoFile,
  protoFiles,
  reflectionpb,
  type RpcStatus,
  type StreamCall,
  type StreamHandler,
  statusOf,
  WireError,
} from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';

/** Two names of one service: the messages have the same bytes. */
const SERVICES = ['grpc.reflection.v1.ServerReflection', 'grpc.reflection.v1alpha.ServerReflection'] as const;

const notReading: RpcStatus = {
  code: GrpcCode.UNAVAILABLE,
  message: 'grpc: reflection stream closed: the client does not read its responses',
};

/**
 * gRPC's reflection: which services there are, and the .proto files that describe them, for tools such as grpcurl. etcd has none. The
 * files are public, so everybody may read them. `methods` are the others that are served.
 */
export function reflectionMethods(
  methods: MethodTable,
  admission: CallAdmission,
  queueBytesMax: number,
): readonly (readonly [string, Method])[] {
  const served = new Set([...methods.keys()].map((path) => path.slice(1, path.lastIndexOf('/'))));
  const services = [...served, ...SERVICES].toSorted();
  const open = (call: StreamCall): ReflectionCall => new ReflectionCall(call, services, queueBytesMax);
  return SERVICES.map((service) => [`/${service}/ServerReflectionInfo`, admission.bidi(open)]);
}

const byName: ReadonlyMap<string, ProtoFile> = new Map(protoFiles.map((file) => [file.name, file]));

/** Made at the first question: hardly anybody asks. */
let symbols: ReadonlyMap<string, ProtoFile> | undefined;

function fileOf(symbol: string): ProtoFile | undefined {
  symbols ??= new Map(protoFiles.flatMap((file) => file.symbols.split(' ').map((name) => [name, file] as const)));
  return symbols.get(symbol);
}

type Response = Omit<
  Parameters<typeof reflectionpb.encodeServerReflectionResponse>[0],
  'validHost' | 'originalRequest'
>;

/** One stream of questions, each with one answer. Texts and order are grpc-go's (reflection/internal). */
class ReflectionCall implements StreamHandler {
  readonly #call: StreamCall;
  readonly #services: readonly string[];
  readonly #queueBytesMax: number;
  /** Names of the files that the client has by now. */
  readonly #sent = new Set<string>();

  constructor(call: StreamCall, services: readonly string[], queueBytesMax: number) {
    this.#call = call;
    this.#services = services;
    this.#queueBytesMax = queueBytesMax;
  }

  message(bytes: Uint8Array): void {
    if (this.#call.queuedBytes > this.#queueBytesMax) {
      this.#call.end(notReading);
      return;
    }
    try {
      const request = reflectionpb.decodeServerReflectionRequest(bytes);
      const response = this.#answer(request);
      if (response === undefined) {
        this.#call.end({ code: GrpcCode.INVALID_ARGUMENT, message: 'invalid MessageRequest: <nil>' });
        return;
      }
      const { host } = request;
      this.#call.send(
        reflectionpb.encodeServerReflectionResponse({ validHost: host, originalRequest: request, ...response }),
      );
    } catch (error) {
      if (!(error instanceof WireError)) throw error;
      this.#call.end(statusOf(error, 'stream'));
    }
  }

  #answer(request: reflectionpb.ServerReflectionRequest): Response | undefined {
    const { fileByFilename: name, fileContainingSymbol: symbol, fileContainingExtension: extension } = request;
    if (name !== undefined) return this.#files(byName.get(name));
    if (symbol !== undefined) return this.#files(fileOf(symbol));
    if (extension !== undefined) return notFound(); // proto3 has none
    const { allExtensionNumbersOfType: type } = request;
    if (type !== undefined) {
      return fileOf(type) === undefined ? notFound() : { allExtensionNumbersResponse: { baseTypeName: type } };
    }
    if (request.listServices === undefined) return undefined;
    return { listServicesResponse: { service: this.#services.map((service) => ({ name: service })) } };
  }

  /** The file, and what it imports as far as the client does not have it. */
  #files(file: ProtoFile | undefined): Response {
    if (file === undefined) return notFound();
    const files = [file];
    // The list grows while it is walked.
    for (const { imports } of files) {
      for (const name of imports) {
        const imported = byName.get(name);
        if (imported !== undefined && !files.includes(imported)) files.push(imported);
      }
    }
    const wanted = files.filter(({ name }, at) => at === 0 || !this.#sent.has(name));
    for (const { name } of wanted) this.#sent.add(name);
    const fileDescriptorProto = wanted.map(({ base64 }) => new Uint8Array(Buffer.from(base64, 'base64')));
    return { fileDescriptorResponse: { fileDescriptorProto } };
  }

  halfClosed(): void {
    this.#call.end();
  }

  drained(): void {}

  closed(): void {}
}

const notFound = (): Response => ({
  errorResponse: { errorCode: GrpcCode.NOT_FOUND, errorMessage: 'proto: not found' },
});
