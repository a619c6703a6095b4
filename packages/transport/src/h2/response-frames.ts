import { DEFAULT_MAX_FRAME_BYTES, type FieldToEncode, headersFrames, HpackEncoder } from '@engram/wire';
import { percentEncode } from '../grpc/percent-encoding.ts';

/** What we keep in the client's table: the two fields below, and nothing that a request could choose. */
const tableBytes = 4096;

const contentType: FieldToEncode = { name: 'content-type', value: 'application/grpc', indexing: 'remember' };
const headFields: readonly FieldToEncode[] = [{ name: ':status', value: '200', indexing: 'once' }, contentType];
const okFields: readonly FieldToEncode[] = [{ name: 'grpc-status', value: '0', indexing: 'remember' }];

/** How the answer to a gRPC call begins, where it is not as usual. */
export interface AnswerForm {
  readonly contentType: string;
  /** Messages are compressed. */
  readonly gzip: boolean;
}

/** Clients take 8 KiB of headers, and a character may become nine bytes. */
const messageMaxLength = 768;

interface Kept {
  frame: Buffer;
  tableChanges: number;
}

/**
 * The HEADERS frames of answers. Those of a successful call are the same two all the time: they are encoded until they
 * say it with one byte a field, and then kept. Each frame is to be sent before the next one is asked for, because it
 * may change the table. Kept frames name stream 0: the sender puts the stream's id in.
 */
export class ResponseFrames {
  readonly #encoder = new HpackEncoder(tableBytes);
  #head: Kept | undefined;
  #ok: Kept | undefined;

  /** The client's SETTINGS_HEADER_TABLE_SIZE. */
  setTableMax(bytes: number): void {
    this.#encoder.setPeerMaxBytes(bytes);
  }

  /** `:status: 200` and gRPC's content type, on stream 0. Shared: not to be changed. */
  head(): Buffer {
    if (this.#head !== undefined && this.#head.tableChanges === this.#encoder.tableChanges) return this.#head.frame;
    const before = this.#encoder.tableChanges;
    const frame = this.#frames(0, headFields, false);
    if (this.#encoder.tableChanges === before) this.#head = { frame, tableChanges: before };
    return frame;
  }

  /** The head of an answer of another form. */
  headOf(streamId: number, { contentType, gzip }: AnswerForm): Buffer {
    const fields: FieldToEncode[] = [
      { name: ':status', value: '200', indexing: 'once' },
      { name: 'content-type', value: contentType, indexing: 'once' },
    ];
    if (gzip) fields.push({ name: 'grpc-encoding', value: 'gzip', indexing: 'once' });
    return this.#frames(streamId, fields, false);
  }

  /** Trailers of a call that succeeded, on stream 0. Shared: not to be changed. */
  ok(): Buffer {
    if (this.#ok !== undefined && this.#ok.tableChanges === this.#encoder.tableChanges) return this.#ok.frame;
    const before = this.#encoder.tableChanges;
    const frame = this.#frames(0, okFields, true);
    if (this.#encoder.tableChanges === before) this.#ok = { frame, tableChanges: before };
    return frame;
  }

  /** Trailers behind a head. */
  trailers(streamId: number, code: number, message: string): Buffer {
    return this.#frames(streamId, statusFields(code, message), true);
  }

  /** An answer that is nothing but its status. */
  trailersOnly(streamId: number, httpStatus: number, code: number, message: string, form?: AnswerForm): Buffer {
    const status: FieldToEncode = { name: ':status', value: String(httpStatus), indexing: 'once' };
    const type: FieldToEncode =
      form === undefined ? contentType : { name: 'content-type', value: form.contentType, indexing: 'once' };
    return this.#frames(streamId, [status, type, ...statusFields(code, message)], true);
  }

  /** The head of a plain HTTP answer. */
  http(streamId: number, status: number, headers: Readonly<Record<string, string>>, endStream: boolean): Buffer {
    const fields: FieldToEncode[] = [{ name: ':status', value: String(status), indexing: 'once' }];
    for (const [name, value] of Object.entries(headers)) {
      fields.push({ name: name.toLowerCase(), value: Buffer.from(value).toString('latin1'), indexing: 'once' });
    }
    return this.#frames(streamId, fields, endStream);
  }

  #frames(streamId: number, fields: readonly FieldToEncode[], endStream: boolean): Buffer {
    return headersFrames(streamId, this.#encoder.encode(fields), endStream, DEFAULT_MAX_FRAME_BYTES);
  }
}

function statusFields(code: number, message: string): readonly FieldToEncode[] {
  const status: FieldToEncode = {
    name: 'grpc-status',
    value: String(code),
    indexing: code === 0 ? 'remember' : 'once',
  };
  if (message === '') return [status];
  const value = percentEncode(
    message.length <= messageMaxLength ? message : `${message.slice(0, messageMaxLength)}...`,
  );
  return [status, { name: 'grpc-message', value, indexing: 'once' }];
}
