import { type ClientHttp2Session, connect, constants } from 'node:http2';
import { etcdserverpb } from '@engram/wire';

/** A client that knows nothing of our transport: node's own HTTP/2 and the framing of gRPC by hand. */
export class GrpcClient implements Disposable {
  readonly session: ClientHttp2Session;

  constructor(url: string, options: { readonly ca?: Uint8Array } = {}) {
    this.session = connect(url, { ...(options.ca === undefined ? {} : { ca: Buffer.from(options.ca) }) });
    this.session.on('error', () => {}); // calls see it too
  }

  [Symbol.dispose](): void {
    this.session.destroy();
  }

  /** The answer's bytes; rejects with "code: message" of the status. */
  unary(path: string, request: Uint8Array, contentType = 'application/grpc'): Promise<Uint8Array> {
    return new Promise((resolve, reject) => {
      const stream = this.session.request({
        [constants.HTTP2_HEADER_METHOD]: 'POST',
        [constants.HTTP2_HEADER_PATH]: path,
        'content-type': contentType,
        te: 'trailers',
      });
      const pieces: Buffer[] = [];
      let status = '';
      const look = (headers: Record<string, unknown>): void => {
        if (headers['grpc-status'] !== undefined)
          status = `${headers['grpc-status']}: ${decodeURIComponent(String(headers['grpc-message'] ?? ''))}`;
        else if (headers[':status'] !== undefined && headers[':status'] !== 200) status = `HTTP ${headers[':status']}`;
      };
      stream.on('response', look).on('trailers', look).on('error', reject);
      stream.on('data', (piece: Buffer) => pieces.push(piece));
      stream.on('close', () => {
        const bytes = Buffer.concat(pieces);
        if (status.startsWith('0')) resolve(bytes.subarray(5));
        else reject(new Error(status));
      });
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
  const header = Buffer.alloc(5);
  header.writeUInt32BE(message.length, 1);
  return header;
}
