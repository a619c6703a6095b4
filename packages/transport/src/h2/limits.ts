/**
 * What one connection may cost. Every number bounds memory or time that a client decides over; the sum for one
 * connection that does its worst is below 100 MiB, for one that behaves some KiB.
 */

/** Streams a connection may have open, however much the operator allows: each costs half a KiB. */
export const STREAMS_MAX = 65_536;

/** What a client may send on one stream before we have taken any of it. A request that fits needs no WINDOW_UPDATE. */
export const STREAM_WINDOW_BYTES = 256 * 1024;
/** On all streams together. */
export const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024;
/** Longer messages than the stream's window are let in one after another, up to this many bytes at a time. */
export const LONG_MESSAGES_BYTES = 16 * 1024 * 1024;
/**
 * What a connection's streams hold of requests: their heads, parts of messages that wait for their rest, messages whose
 * stream has not ended, bodies. Above it no window is opened, and streams that want more fail.
 */
export const REQUESTS_HELD_MAX_BYTES = 64 * 1024 * 1024;
/** So much anybody may hold, whatever others do. */
export const REQUESTS_HELD_FREE_BYTES = 64 * 1024;

/** A header list above it is refused; what we tell the client in SETTINGS_MAX_HEADER_LIST_SIZE. */
export const HEADER_LIST_MAX_BYTES = 64 * 1024;
/** A header block above it ends the connection: it must be decoded whole, so it must be held whole. */
export const HEADER_BLOCK_MAX_BYTES = 128 * 1024;

/** Bytes handed to the kernel in one write: what node may hold of a client that does not read. */
export const BATCH_MAX_BYTES = 256 * 1024;
/**
 * No frame of a client is taken while this much waits for the kernel: answers to PING and SETTINGS, resets and refusals
 * are in no window. Above BATCH_MAX_BYTES, so that DATA alone does not reach it.
 */
export const OUTPUT_HELD_MAX_BYTES = 512 * 1024;
/** What the frames of all connections may take of a turn of the event loop, together. */
export const INTAKE_TURN_MS = 4;
/** What the frames of one connection may take at a time while others wait. */
export const INTAKE_SHARED_SLICE_MS = 1;
/** What writing to sockets may take of a turn, all connections together. */
export const FLUSH_SLICE_MS = 4;
/** No new call starts while this much waits to be sent to the client of the connection. */
export const SEND_QUEUE_MAX_BYTES = 16 * 1024 * 1024;
/** Nor while the requests of calls that run hold this much. */
export const RUNNING_MAX_BYTES = 32 * 1024 * 1024;
/** Compressed calls do not start in a turn of the event loop that has made this much of others, on all connections. */
export const INFLATED_TURN_BYTES = 4 * 1024 * 1024;
/** A compressed message on a stream costs its client a token of the abuse budget for each so many bytes that it was. */
export const INFLATED_TOKEN_BYTES = 16 * 1024;
/** What a call of a server stream counts for until its first message: what it will send is not known, but it is much. */
export const STREAMED_ANSWER_BYTES = 1024 * 1024;
/** Streams that a turn tells that there is room again. */
export const RESUMED_PER_TURN = 64;
/** A stream's requests are not let in any more while this much of its answers waits. */
export const STREAM_QUEUE_HIGH_BYTES = 1024 * 1024;
/** DATA frames that we send: large ones save headers, small ones let other streams through. */
export const SEND_FRAME_MAX_BYTES = 64 * 1024;

/** Nothing of what waits could be sent for this long: the connection ends. */
export const STALL_MAX_MS = 5 * 60_000;
/** How often connections are looked at for what has waited too long. */
export const SWEEP_INTERVAL_MS = 5_000;
/** Streams that a turn of the event loop ends when their connection does. */
export const DROPPED_PER_TURN = 256;
/** After a GOAWAY for an error, input is read and dropped for this long, so that the client gets to see why. */
export const LINGER_MS = 1_000;
/**
 * How long a client may take to answer the first GOAWAY of a drain. grpc-go gives it 5 s (internal/transport/
 * http2_server.go), but a client that never answers must not hold an exit up for that long.
 */
export const GOAWAY_ACK_MS = 1_000;
