import { DEFAULT_MAX_FRAME_BYTES, type FieldToEncode, headersFrames, HpackEncoder } from '@engram/http2';

/**
 * Size of the dynamic table that the server uses. It holds only the server's own names and values, none that a request
 * could choose.
 */
const tableBytes = 4096;

/**
 * Encodes the HEADERS frames of a connection. Each must be sent before the next is encoded, because it may change the
 * client's table.
 */
export class HeaderWriter {
  readonly #encoder = new HpackEncoder(tableBytes);

  /** The client's SETTINGS_HEADER_TABLE_SIZE. */
  setTableMax(bytes: number): void {
    this.#encoder.setPeerMaxBytes(bytes);
  }

  /** While this count is the same, frames that were encoded without changing the table are still valid. */
  get tableChanges(): number {
    return this.#encoder.tableChanges;
  }

  frames(streamId: number, fields: readonly FieldToEncode[], endStream: boolean): Buffer {
    return headersFrames(streamId, this.#encoder.encode(fields), endStream, DEFAULT_MAX_FRAME_BYTES);
  }
}
