import { DEFAULT_MAX_FRAME_BYTES, type FieldToEncode, headersFrames, HpackEncoder } from '@engram/wire';

/** What we keep in the client's table: names and values of our own, and nothing that a request could choose. */
const tableBytes = 4096;

/**
 * The HEADERS frames that leave a connection. Each is to be sent before the next one is made, because it may change the
 * client's table.
 */
export class HeaderWriter {
  readonly #encoder = new HpackEncoder(tableBytes);

  /** The client's SETTINGS_HEADER_TABLE_SIZE. */
  setTableMax(bytes: number): void {
    this.#encoder.setPeerMaxBytes(bytes);
  }

  /** While it is the same, frames that were made without changing it say the same again. */
  get tableChanges(): number {
    return this.#encoder.tableChanges;
  }

  frames(streamId: number, fields: readonly FieldToEncode[], endStream: boolean): Buffer {
    return headersFrames(streamId, this.#encoder.encode(fields), endStream, DEFAULT_MAX_FRAME_BYTES);
  }
}
