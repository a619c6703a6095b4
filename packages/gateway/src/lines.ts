import { GrpcCode } from '@engram/core';
import type { Loop } from '@engram/loop';
import { errorLine } from './answers.ts';
import type { GatewayStream } from './gateway-stream.ts';
import { CHUNK_BYTES, MessageChunks } from './message-chunks.ts';

/**
 * The answers of a stream as lines of JSON: `{"result":...}` each, and `{"error":...}` if it fails. The text of a message is made in
 * chunks, each in a slice of the connection, when the client has taken what was before it.
 */
export async function* linesOf(stream: GatewayStream, loop: Loop): AsyncGenerator<Uint8Array> {
  let text = '';
  try {
    for (await stream.ready(); !stream.idle; await stream.ready()) {
      await loop.pause(stream.task);
      for (let message = stream.take(); message !== undefined; message = stream.take()) {
        const chunks = new MessageChunks(stream.route.response, message);
        try {
          text += '{"result":';
          for (text += await chunks.next(); !chunks.done; text = await chunks.next()) {
            yield Buffer.from(text);
            await loop.pause(stream.task);
          }
        } finally {
          chunks.drop();
        }
        text += '}\n';
        if (text.length >= CHUNK_BYTES) break;
      }
      if (text !== '') yield Buffer.from(text);
      text = '';
      stream.took();
    }
    const { status } = stream;
    if (status !== undefined && status.code !== GrpcCode.OK) yield Buffer.from(errorLine(status));
  } finally {
    stream.close();
  }
}
