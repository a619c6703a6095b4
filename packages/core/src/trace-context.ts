/*
 * W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context/): which trace a call belongs to. Only `traceparent`;
 * `tracestate` is not passed on.
 */

/** Identifies the span in which a call was made. */
export interface TraceContext {
  /** 16 bytes, not all zero, in 32 lower-case hex digits. */
  readonly traceId: string;
  /** The parent's: 8 bytes, not all zero, in 16 lower-case hex digits. */
  readonly spanId: string;
  /** One byte. Bit 0: the caller records the trace. The other bits are passed on as they are. */
  readonly flags: number;
}

const FORM = /^([\da-f]{2})-([\da-f]{32})-([\da-f]{16})-([\da-f]{2})(?:$|-)/;
const VERSION_0_CHARS = 55;
/** A later version may append fields. What is longer than this is no header of a version that we know of. */
const CHARS_MAX = 256;
const TRACE_ID_BYTES = 16;
const SPAN_ID_BYTES = 8;
export const TRACE_CONTEXT_BYTES = TRACE_ID_BYTES + SPAN_ID_BYTES + 1;
const ALL_ZERO = /^0+$/;

/**
 * The context in a header `traceparent`. Undefined if there is none, or if it is malformed: the specification asks to ignore it
 * then, as if it were not there. Of a later version than 00 the fields of version 00 are read.
 */
export function parseTraceparent(header: string | undefined): TraceContext | undefined {
  if (header === undefined || header.length < VERSION_0_CHARS || header.length > CHARS_MAX) return undefined;
  const parts = FORM.exec(header);
  if (parts === null) return undefined;
  const [, version, traceId, spanId, flags] = parts;
  if (version === 'ff' || (version === '00' && header.length !== VERSION_0_CHARS)) return undefined;
  if (ALL_ZERO.test(traceId!) || ALL_ZERO.test(spanId!)) return undefined;
  return { traceId: traceId!, spanId: spanId!, flags: Number.parseInt(flags!, 16) };
}

/** The header of version 00. */
export const traceparentOf = ({ traceId, spanId, flags }: TraceContext): string =>
  `00-${traceId}-${spanId}-${flags.toString(16).padStart(2, '0')}`;

/** `TRACE_CONTEXT_BYTES` bytes: trace id, span id, flags. */
export function encodeTraceContext({ traceId, spanId, flags }: TraceContext): Uint8Array {
  const bytes = new Uint8Array(TRACE_CONTEXT_BYTES);
  bytes.set(Buffer.from(traceId, 'hex'));
  bytes.set(Buffer.from(spanId, 'hex'), TRACE_ID_BYTES);
  bytes[TRACE_CONTEXT_BYTES - 1] = flags;
  return bytes;
}

/** Undefined if these are not the bytes of a context. */
export function decodeTraceContext(bytes: Uint8Array): TraceContext | undefined {
  if (bytes.length !== TRACE_CONTEXT_BYTES) return undefined;
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, TRACE_CONTEXT_BYTES).toString('hex');
  const traceId = hex.slice(0, 2 * TRACE_ID_BYTES);
  const spanId = hex.slice(2 * TRACE_ID_BYTES, 2 * (TRACE_ID_BYTES + SPAN_ID_BYTES));
  if (ALL_ZERO.test(traceId) || ALL_ZERO.test(spanId)) return undefined;
  return { traceId, spanId, flags: bytes[TRACE_CONTEXT_BYTES - 1]! };
}
