import { type FieldSink, type HeaderField, HeaderName } from '@engram/http2';
import { HEADER_LIST_MAX_BYTES } from './limits.ts';
import type { Lead } from './lead.ts';

/**
 * The header list of one request, checked by the rules of RFC 9113 §8. Requests with equal header blocks share one
 * object, so it must not change after it is decoded.
 */
export class RequestHead implements FieldSink {
  method = '';
  scheme = '';
  path = '';
  authority = '';
  contentType = '';
  grpcTimeout: string | undefined;
  grpcEncoding = '';
  /** -1 if the request has none. */
  contentLength = -1;
  /** Why the request is malformed: its stream ends with PROTOCOL_ERROR. */
  fault: string | undefined;
  /** The list is above its limit. The fields after that point are lost. */
  tooLarge = false;
  readonly fields: HeaderField[] = [];
  /** The target, looked up once for all requests that share this head. */
  lead: Lead | undefined;
  /** Size of all fields, as HTTP/2 counts it. */
  bytes = 0;

  /** Pseudo-headers that were received, one bit for each HeaderName. */
  #seen = 0;

  field(field: HeaderField): void {
    this.bytes += field.size;
    if (this.bytes > HEADER_LIST_MAX_BYTES) {
      this.tooLarge = true;
      return;
    }
    if (field.malformed) this.fault ??= `bad bytes in ${field.name}`;
    const { value } = field;
    switch (field.known) {
      case HeaderName.METHOD:
        this.method = this.#pseudo(field);
        return;
      case HeaderName.SCHEME:
        this.scheme = this.#pseudo(field);
        return;
      case HeaderName.PATH:
        this.path = this.#pseudo(field);
        return;
      case HeaderName.AUTHORITY:
        this.authority = this.#pseudo(field);
        return;
      case HeaderName.UNKNOWN_PSEUDO:
      case HeaderName.CONNECTION_SPECIFIC:
        this.fault ??= `${field.name} in a request`;
        return;
      case HeaderName.TE:
        if (value !== 'trailers') this.fault ??= `te: ${value}`;
        break;
      case HeaderName.CONTENT_TYPE:
        this.contentType = value;
        break;
      case HeaderName.GRPC_TIMEOUT:
        this.grpcTimeout = value;
        break;
      case HeaderName.GRPC_ENCODING:
        this.grpcEncoding = value;
        break;
      case HeaderName.CONTENT_LENGTH:
        this.contentLength = /^\d{1,15}$/.test(value) ? Number(value) : -1;
        if (this.contentLength < 0) this.fault ??= `content-length: ${value}`;
        break;
    }
    this.fields.push(field);
  }

  /** To be called after the last field. */
  finish(): void {
    if (this.tooLarge) return;
    if (this.method === '') this.fault ??= 'no :method';
    if (this.scheme === '') this.fault ??= 'no :scheme';
    if (this.path === '') this.fault ??= 'no :path';
  }

  /** The first value of a field, by its name in lower case. */
  find(name: string): string | undefined {
    for (const field of this.fields) {
      if (field.name === name) return field.value;
    }
    return undefined;
  }

  #pseudo(field: HeaderField): string {
    // Also if the first value is empty: a proxy that reads only the first value would see another request than the
    // server does.
    if ((this.#seen & (1 << field.known)) !== 0) this.fault ??= `${field.name} twice`;
    this.#seen |= 1 << field.known;
    if (this.fields.length > 0) this.fault ??= `${field.name} behind other fields`;
    return field.value;
  }
}

/** Checks the trailers of a request: their fields are ignored, but pseudo-headers are not allowed. */
export class TrailerCheck implements FieldSink {
  fault: string | undefined;

  field(field: HeaderField): void {
    if (field.malformed || field.name.startsWith(':')) this.fault ??= `${field.name} in trailers`;
  }
}
