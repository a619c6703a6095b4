import { gunzipSync, gzipSync } from 'node:zlib';
import { GrpcCode } from '@engram/core';
import { isLong, joinMessage, type LongMessage, type Message, messageBytes, type RpcStatus } from '@engram/wire';

/** Longer messages are sent uncompressed, which gRPC allows, because compressing one would block other calls for too long. */
const COMPRESSED_MAX_BYTES = 256 * 1024;
const HEAD_BYTES = 10;
const magic = Buffer.from([0x1f, 0x8b, 8]);

export type Inflated = { readonly message: Buffer } | { readonly fault: RpcStatus };

/** The inflated message, at most `maxBytes` long. The faults are grpc-go's. */
export function inflate(compressed: Buffer, maxBytes: number): Inflated {
  if (compressed.length < HEAD_BYTES) {
    return fault(`decompress the message: ${compressed.length === 0 ? 'EOF' : 'unexpected EOF'}`);
  }
  if (!compressed.subarray(0, magic.length).equals(magic)) return fault('decompress the message: gzip: invalid header');
  try {
    return { message: gunzipSync(compressed, { maxOutputLength: maxBytes }) };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    if (code === 'ERR_BUFFER_TOO_LARGE') {
      const message = `grpc: received message after decompression larger than max ${maxBytes}`;
      return { fault: { code: GrpcCode.RESOURCE_EXHAUSTED, message } };
    }
    if (code === 'Z_BUF_ERROR') return fault('read decompressed data: unexpected EOF');
    const text = error instanceof Error ? (goTexts[error.message] ?? 'flate: corrupt input') : String(error);
    return fault(`read decompressed data: ${text}`);
  }
}

/** Go's texts for zlib's. The other texts name positions in the data, which zlib does not report. */
const goTexts: Readonly<Record<string, string>> = {
  'incorrect data check': 'gzip: invalid checksum',
  'incorrect length check': 'gzip: invalid checksum',
  'incorrect header check': 'gzip: invalid header',
};

function fault(text: string): Inflated {
  return { fault: { code: GrpcCode.INTERNAL, message: `grpc: failed to ${text}` } };
}

/** Whether the whole message can be read now. Otherwise its sender prepares it again. */
function isReady(message: LongMessage): boolean {
  if (message.bytes > COMPRESSED_MAX_BYTES) return false;
  const ready = message.prepare(message.bytes);
  ready?.catch(() => {}); // the sender prepares it again and handles the error
  return ready === undefined;
}

/** The message as gzip; undefined if it must be sent uncompressed or is not available yet. */
export function deflate(message: Message): Buffer | undefined {
  const bytes = messageBytes(message);
  if (!(message instanceof Uint8Array) && isLong(message) && !isReady(message)) return undefined;
  // The fastest level: a smaller answer would cost the server more time.
  return bytes === 0 || bytes > COMPRESSED_MAX_BYTES ? undefined : gzipSync(joinMessage(message), { level: 1 });
}
