import type { RequestHead } from './request-head.ts';
import type { Stream } from './stream.ts';

/** The target of requests with one head. It is looked up once for all requests that share the head. */
export interface Lead {
  /** The stream that takes the request; undefined when the call itself has answered the request. */
  open(streamId: number, head: RequestHead, endStream: boolean): Stream | undefined;
}

/** Maps the head of a request to its target. HTTP/2 itself does not know the targets. */
export interface Leads {
  find(head: RequestHead): Lead;
}
