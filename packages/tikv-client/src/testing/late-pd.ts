import { decode, encode } from '@engram/protobuf';
import { TsoResponseCodec } from '../proto/gen/pdpb.ts';
import type { Channel, Transport } from '../transport/transport.ts';

/** A way to real servers on which PD's timestamps lie before those that it allocates: a PD that went back. */
export class LatePd implements Transport {
  readonly #inner: Transport;
  /** How far the timestamps lie back, in milliseconds. */
  backMs = 0;

  constructor(inner: Transport) {
    this.#inner = inner;
  }

  connect(address: string, secure: boolean): Channel {
    const channel = this.#inner.connect(address, secure);
    return {
      unary: (method, request, options) => channel.unary(method, request, options),
      stream: (method, events, metadata) => {
        if (!method.endsWith('/Tso')) return channel.stream(method, events, metadata);
        const late = { ...events, message: (bytes: Uint8Array) => events.message(this.#shift(bytes)) };
        return channel.stream(method, { ...late, end: (error) => events.end(error) }, metadata);
      },
      close: () => channel.close(),
    };
  }

  #shift(bytes: Uint8Array): Uint8Array {
    const answer = decode(TsoResponseCodec, bytes);
    const { timestamp } = answer;
    if (timestamp === undefined) return bytes;
    return encode(TsoResponseCodec, {
      ...answer,
      timestamp: { ...timestamp, physical: timestamp.physical - this.backMs },
    });
  }
}
