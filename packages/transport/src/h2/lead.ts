import type { RequestHead } from './request-head.ts';
import type { Stream } from './stream.ts';

/** Where requests with one head lead: found once for all that share it. */
export interface Lead {
  /** The stream that takes it from here; undefined when the request has been answered with this. */
  open(streamId: number, head: RequestHead, endStream: boolean): Stream | undefined;
}

/** What a connection's requests are for: HTTP/2 itself does not know. */
export interface Leads {
  find(head: RequestHead): Lead;
}
