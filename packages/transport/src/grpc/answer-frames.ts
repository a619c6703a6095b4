import type { FieldToEncode } from '@engram/http2';
import type { HeaderWriter } from '../h2/header-writer.ts';
import { percentEncode } from './percent-encoding.ts';

const contentType: FieldToEncode = { name: 'content-type', value: 'application/grpc', indexing: 'remember' };
const headFields: readonly FieldToEncode[] = [{ name: ':status', value: '200', indexing: 'once' }, contentType];
/** grpc-go sends the message of every status, even if it is empty (internal/transport: writeStatus). */
const emptyMessage: FieldToEncode = { name: 'grpc-message', value: '', indexing: 'remember' };
const okFields: readonly FieldToEncode[] = [{ name: 'grpc-status', value: '0', indexing: 'remember' }, emptyMessage];

/** The form of the answer to a gRPC call, if it is not the default. */
export interface AnswerForm {
  readonly contentType: string;
  /** Messages are compressed. */
  readonly gzip: boolean;
}

interface Kept {
  readonly frame: Buffer;
  readonly tableChanges: number;
}

/** Clients accept 8 KiB of headers, and a character may be encoded in nine bytes. */
const messageMaxLength = 768;

/**
 * The HEADERS frames of answers. A successful call always has the same two: each is encoded until it takes one byte per
 * field, and then kept. Kept frames name stream 0: the sender of a frame fills in the stream's id.
 */
export class AnswerFrames {
  readonly #headers: HeaderWriter;
  #head: Kept | undefined;
  #ok: Kept | undefined;

  constructor(headers: HeaderWriter) {
    this.#headers = headers;
  }

  /** `:status: 200` and gRPC's content type, on stream 0. The frame is shared and must not be changed. */
  head(): Buffer {
    if (this.#head !== undefined && this.#head.tableChanges === this.#headers.tableChanges) return this.#head.frame;
    const before = this.#headers.tableChanges;
    const frame = this.#headers.frames(0, headFields, false);
    if (this.#headers.tableChanges === before) this.#head = { frame, tableChanges: before };
    return frame;
  }

  /** The head of an answer of another form. */
  headOf(streamId: number, { contentType, gzip }: AnswerForm): Buffer {
    const fields: FieldToEncode[] = [
      { name: ':status', value: '200', indexing: 'once' },
      { name: 'content-type', value: contentType, indexing: 'once' },
    ];
    if (gzip) fields.push({ name: 'grpc-encoding', value: 'gzip', indexing: 'once' });
    return this.#headers.frames(streamId, fields, false);
  }

  /** Trailers of a successful call, on stream 0. The frame is shared and must not be changed. */
  ok(): Buffer {
    if (this.#ok !== undefined && this.#ok.tableChanges === this.#headers.tableChanges) return this.#ok.frame;
    const before = this.#headers.tableChanges;
    const frame = this.#headers.frames(0, okFields, true);
    if (this.#headers.tableChanges === before) this.#ok = { frame, tableChanges: before };
    return frame;
  }

  /** Trailers of an answer whose head was sent. */
  trailers(streamId: number, code: number, message: string): Buffer {
    return this.#headers.frames(streamId, statusFields(code, message), true);
  }

  /** An answer without messages. */
  trailersOnly(streamId: number, httpStatus: number, code: number, message: string, form?: AnswerForm): Buffer {
    const status: FieldToEncode = { name: ':status', value: String(httpStatus), indexing: 'once' };
    const type: FieldToEncode =
      form === undefined ? contentType : { name: 'content-type', value: form.contentType, indexing: 'once' };
    return this.#headers.frames(streamId, [status, type, ...statusFields(code, message)], true);
  }

  /** Like `trailersOnly`, for an answer that continues with a body. */
  headWithStatus(streamId: number, httpStatus: number, code: number, message: string): Buffer {
    const status: FieldToEncode = { name: ':status', value: String(httpStatus), indexing: 'once' };
    return this.#headers.frames(streamId, [status, contentType, ...statusFields(code, message)], false);
  }
}

function statusFields(code: number, message: string): readonly FieldToEncode[] {
  if (code === 0) return okFields;
  const status: FieldToEncode = { name: 'grpc-status', value: String(code), indexing: 'once' };
  if (message === '') return [status, emptyMessage];
  const value = percentEncode(
    message.length <= messageMaxLength ? message : `${message.slice(0, messageMaxLength)}...`,
  );
  return [status, { name: 'grpc-message', value, indexing: 'once' }];
}
