import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { etcdserverpb } from '@engram/wire';

const PREFIX_BYTES = 5;

export interface CallOptions {
  readonly contentType?: string;
  readonly onMessage?: (message: Uint8Array) => void;
}

/** A client that shares no code with the transport: Node's own HTTP/2, with gRPC framing by hand. */
export class GrpcClient implements Disposable {
  readonly session: ClientHttp2Session;

  constructor(url: string, options: { readonly ca?: Uint8Array } = {}) {
    this.session = connect(url, { ...(options.ca === undefined ? {} : { ca: Buffer.from(options.ca) }) });
    this.session.on('error', () => {}); // calls get the error too
  }

  [Symbol.dispose](): void {
    this.session.destroy();
  }

  /** The bytes of the answer. Rejects with "code: message" of the status. */
  async unary(path: string, request: Uint8Array, contentType = 'application/grpc'): Promise<Uint8Array> {
    const { messages, status } = await this.call(path, request, { contentType });
    if (!status.startsWith('0')) throw new Error(status);
    return messages[0] ?? Buffer.alloc(0);
  }

  /** All messages of the answer, and "code: message" of the status. Rejects if the call breaks off without a status. */
  call(
    path: string,
    request: Uint8Array,
    { contentType = 'application/grpc', onMessage }: CallOptions = {},
  ): Promise<{ readonly messages: readonly Uint8Array[]; readonly status: string }> {
    return new Promise((resolve, reject) => {
      const stream = this.session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        'content-type': contentType,
        te: 'trailers',
      });
      const messages: Buffer[] = [];
      let pending = Buffer.alloc(0);
      let status = '';
      const look = (headers: Record<string, unknown>): void => {
        if (headers['grpc-status'] !== undefined)
          status = `${headers['grpc-status']}: ${decodeURIComponent(String(headers['grpc-message'] ?? ''))}`;
        else if (headers[':status'] !== undefined && headers[':status'] !== 200) status = `HTTP ${headers[':status']}`;
      };
      stream.on('response', look).on('trailers', look).on('error', reject);
      stream.on('data', (piece: Buffer) => {
        pending = Buffer.concat([pending, piece]);
        while (pending.length >= PREFIX_BYTES) {
          const end = PREFIX_BYTES + pending.readUInt32BE(1);
          if (pending.length < end) break;
          const message = pending.subarray(PREFIX_BYTES, end);
          pending = pending.subarray(end);
          messages.push(message);
          onMessage?.(message);
        }
      });
      stream.on('close', () => resolve({ messages, status }));
      stream.end(Buffer.concat([frameHeader(request), request]));
    });
  }

  async put(key: string, value: string): Promise<number> {
    const request = etcdserverpb.encodePutRequest({ key: Buffer.from(key), value: Buffer.from(value) });
    const response = etcdserverpb.decodePutResponse(await this.unary('/etcdserverpb.KV/Put', request));
    return Number(response.header?.revision);
  }

  async get(key: string): Promise<string | undefined> {
    const request = etcdserverpb.encodeRangeRequest({ key: Buffer.from(key) });
    const response = etcdserverpb.decodeRangeResponse(await this.unary('/etcdserverpb.KV/Range', request));
    const value = response.kvs[0]?.value;
    return value === undefined ? undefined : Buffer.from(value).toString();
  }

  async status(): Promise<etcdserverpb.StatusResponse> {
    const request = etcdserverpb.encodeStatusRequest({});
    return etcdserverpb.decodeStatusResponse(await this.unary('/etcdserverpb.Maintenance/Status', request));
  }
}

function frameHeader(message: Uint8Array): Buffer {
  const header = Buffer.alloc(PREFIX_BYTES);
  header.writeUInt32BE(message.length, 1);
  return header;
}
