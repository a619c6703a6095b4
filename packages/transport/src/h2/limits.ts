/**
 * What one connection may cost. Every number bounds memory or time that a client controls. The sum for one connection
 * is below 100 MiB in the worst case, and some KiB for a normal client.
 */

/** Streams a connection may have open, even if the operator allows more: each costs half a KiB. */
export const STREAMS_MAX = 65_536;

/** What a client may send on one stream before the server has taken any of it. A request that fits needs no WINDOW_UPDATE. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** What a client may send on all streams together. */
export const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Messages longer than the stream's window are admitted one after another, up to this many bytes at a time. */
export const LONG_MESSAGES_BYTES = 16 * 1024 * 1024;
/**
 * What a connection's streams hold of requests: heads, incomplete messages, messages whose stream has not ended,
 * bodies. Above this limit no window is opened, and streams that need more fail.
 */
export const REQUESTS_HELD_MAX_BYTES = 64 * 1024 * 1024;
/** What every connection may hold, regardless of other connections. */
export const REQUESTS_HELD_FREE_BYTES = 64 * 1024;

/** A longer header list is refused. Announced to the client in SETTINGS_MAX_HEADER_LIST_SIZE. */
export const HEADER_LIST_MAX_BYTES = 64 * 1024;
/** A longer header block ends the connection: it must be decoded whole, so it must be held whole. */
export const HEADER_BLOCK_MAX_BYTES = 128 * 1024;

/** Bytes handed to the kernel in one write: what node may hold for a client that does not read. */
export const BATCH_MAX_BYTES = 256 * 1024;
/**
 * No frame of a client is taken while this many bytes wait for the kernel: answers to PING and SETTINGS, resets and
 * refusals have no flow-control window. Above BATCH_MAX_BYTES, so that DATA alone does not reach it.
 */
export const OUTPUT_HELD_MAX_BYTES = 512 * 1024;
/** No new call of a connection starts while this many bytes wait to be sent to its client. */
export const SEND_QUEUE_MAX_BYTES = 16 * 1024 * 1024;
/** No new call starts while the requests of running calls hold this many bytes. */
export const RUNNING_MAX_BYTES = 32 * 1024 * 1024;
/**
 * A compressed message on a stream costs its client one token of the abuse budget for each this many bytes of its
 * inflated size.
 */
export const INFLATED_TOKEN_BYTES = 16 * 1024;
/**
 * The bytes that a server-streaming call counts for until its first message. The size of its answer is unknown, but
 * large.
 */
export const STREAMED_ANSWER_BYTES = 1024 * 1024;
/** A stream's requests are not taken while this many bytes of its answers wait. */
export const STREAM_QUEUE_HIGH_BYTES = 1024 * 1024;
/** Size of DATA frames that the server sends: large frames save headers, small frames let other streams through. */
export const SEND_FRAME_MAX_BYTES = 64 * 1024;

/** The connection ends if none of the waiting bytes could be sent for this long. */
export const STALL_MAX_MS = 5 * 60_000;
/** How often connections are checked for timeouts. */
export const SWEEP_INTERVAL_MS = 5_000;
/** After a GOAWAY for an error, input is read and dropped for this long, so that the client receives the reason. */
export const LINGER_MS = 1_000;
/**
 * How long a client may take to answer the first GOAWAY of a drain. grpc-go allows 5 s
 * (internal/transport/http2_server.go), but a client that never answers must not delay the exit that long.
 */
export const GOAWAY_ACK_MS = 1_000;
