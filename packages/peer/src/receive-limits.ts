import {
  type Metadata,
  type ServerInterceptingCall,
  ServerInterceptingCall as Intercepting,
  status,
} from '@grpc/grpc-js';
import { channelOptions } from './methods.ts';

/** A stream that has not said whose it is may send no longer message than this. A hello has some dozen bytes. */
export const STRANGER_BYTES_MAX = 64 * 1024;

/** The name under which a handler finds its stream. It replaces what the other side may have sent under it. */
const STREAM = 'engram-stream';

/** The part of grpc-js' call that bounds what is read. It has no name in its types; a test checks that it is there. */
interface ReadingCall {
  readonly incomingEncoding: string;
  readonly decoder: { maxReadMessageLength: number };
}

function isReading(call: unknown): call is ReadingCall {
  if (typeof call !== 'object' || call === null || !('decoder' in call) || !('incomingEncoding' in call)) return false;
  const { decoder } = call;
  return typeof decoder === 'object' && decoder !== null && 'maxReadMessageLength' in decoder;
}

/**
 * Bounds the messages of each stream until its handler trusts it, and refuses compressed ones: some kilobytes of those are
 * hundreds of megabytes. Members do not compress.
 */
export class ReceiveLimits {
  readonly #reading = new Map<string, ReadingCall>();
  #streams = 0;

  /** For `ServerOptions.interceptors`. */
  readonly intercept = (_: unknown, call: ConstructorParameters<typeof Intercepting>[0]): ServerInterceptingCall => {
    if (!isReading(call)) throw new Error('this version of grpc-js bounds messages in another way');
    call.decoder.maxReadMessageLength = STRANGER_BYTES_MAX;
    this.#streams += 1;
    const name = String(this.#streams);
    this.#reading.set(name, call);
    const compressed = call.incomingEncoding !== 'identity';
    return new Intercepting(call, {
      start: (next) => {
        next({
          onReceiveMetadata: (metadata, deliver) => {
            metadata.set(STREAM, name);
            deliver(metadata);
            if (compressed) call.sendStatus({ code: status.UNIMPLEMENTED, details: 'members do not compress' });
          },
          onCancel: () => void this.#reading.delete(name),
        });
      },
    });
  };

  /** Messages of this stream may have any size that members send. */
  trust(metadata: Metadata): void {
    const reading = this.#reading.get(String(metadata.get(STREAM)[0]));
    if (reading !== undefined) {
      reading.decoder.maxReadMessageLength = channelOptions['grpc.max_receive_message_length'];
    }
  }

  /** The stream has ended. */
  forget(metadata: Metadata): void {
    this.#reading.delete(String(metadata.get(STREAM)[0]));
  }

  get streams(): number {
    return this.#reading.size;
  }
}
