import type { FieldToEncode } from '@engram/http2';

/** The fields of a header block by name. Of a name that comes twice the last value stays. */
export type Fields = ReadonlyMap<string, string>;

/** How a stream ended. */
export type StreamEnd =
  /** The server has ended it. `trailers` are empty if it sent none; those of an answer without a body are its head. */
  | { readonly kind: 'complete'; readonly trailers: Fields }
  /** The server has reset it with a code of RFC 9113 §7. */
  | { readonly kind: 'reset'; readonly code: number }
  /** The server leaves, and says that it has not looked at this stream. */
  | { readonly kind: 'refused' }
  /** The connection is lost. If it was not `established`, the server has got nothing of any stream. `tls`: see `isTlsFailure`. */
  | { readonly kind: 'lost'; readonly established: boolean; readonly tls: boolean; readonly cause: Error };

/** What the owner of a stream is told. None may throw. */
export interface ClientStreamEvents {
  head(fields: Fields): void;
  /** The payload `bytes[start, end)`. The owner may keep a view. */
  data(bytes: Buffer, start: number, end: number): void;
  /** The last event. It does not come after `cancel`. */
  end(end: StreamEnd): void;
}

/** What a stream asks of its connection. */
export interface StreamHost {
  send(stream: ClientStream, bytes: Buffer, last: boolean): void;
  cancel(stream: ClientStream, code: number): void;
}

/** One request and its answer on a connection. Its fields are those of the connection, which alone changes them. */
export class ClientStream {
  /** 0 until the request's head is sent. */
  id = 0;
  /** Bytes that the server will still take, beside what the connection's window allows. */
  window = 0;
  /** Bytes that wait for a window or for the socket: the first from `at` on. */
  readonly pieces: Buffer[] = [];
  at = 0;
  waitingBytes = 0;
  /** The owner has sent its last byte. */
  last = false;
  /** Bytes received since the last update of the stream's window. */
  unacknowledged = 0;
  hasHead = false;
  closed = false;
  readonly fields: readonly FieldToEncode[];
  readonly events: ClientStreamEvents;
  readonly #host: StreamHost;

  constructor(host: StreamHost, fields: readonly FieldToEncode[], events: ClientStreamEvents) {
    this.#host = host;
    this.fields = fields;
    this.events = events;
  }

  /**
   * Sends what follows the first FRAME_HEADER_BYTES of `bytes`, which are room for a frame's header: a short message leaves in
   * one piece. The stream owns the bytes from this call on. `last`: nothing follows. Ignored after the end.
   */
  send(bytes: Buffer, last: boolean): void {
    if (!this.closed) this.#host.send(this, bytes, last);
  }

  /** Ends the stream with a code of RFC 9113 §7. No event follows. */
  cancel(code: number): void {
    if (!this.closed) this.#host.cancel(this, code);
  }
}
