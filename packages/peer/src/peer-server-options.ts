import type { Clock, Logger } from '@engram/core';
import type { Loop } from '@engram/loop';
import type { PeerService } from '@engram/member';
import type { BoundPort } from '@engram/transport';
import type { Traffic } from './peer-traffic.ts';
import type { PeerTls } from './tls.ts';

export interface PeerServerOptions {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** Where the data of the cluster is. Members of clusters with equal ids, by equal URLs and tokens, differ in it. */
  readonly storeId: bigint;
  /** Drawn when the cluster was founded there. Undefined if it was not: then it is not compared. */
  readonly foundingId?: bigint | undefined;
  /** What to listen on. Secure ones serve TLS. They belong to the server from the call on. */
  readonly ports: readonly { readonly port: BoundPort; readonly secure: boolean }[];
  /** Required if a port is secure. */
  readonly tls: PeerTls | undefined;
  readonly service: PeerService;
  readonly traffic: Traffic;
  /** The stream waits when more bytes of batches than this are queued for a follower that reads slowly. */
  readonly queuedBytesMax: number;
  /** The connection of a member ends that leaves more bytes of answers than this unread; 256 MiB. */
  readonly answersBytesMax?: number;
  readonly clock: Clock;
  /** The time of the event loop. If undefined, the server assumes all of it for itself. */
  readonly loop?: Loop;
  readonly logger: Logger;
}
