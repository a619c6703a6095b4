import type { Clock, Logger, LogPosition } from '@engram/core';
import { Loop } from '@engram/loop';
import { type PeerAddress, PeerError, type PeerNetwork, type PeerService } from '@engram/member';
import type { LogBatch } from '@engram/storage';
import { type DialTarget, dialTargetOf } from './dial-target.ts';
import { PeerLink } from './peer-link.ts';
import { PeerTraffic, Traffic } from './peer-traffic.ts';
import { DialedTls, type PeerTls } from './tls.ts';

export interface PeerLinksOptions {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  /** As in `PeerServerOptions`. */
  readonly storeId: bigint;
  readonly foundingId?: bigint | undefined;
  readonly tls: PeerTls | undefined;
  readonly clock: Clock;
  /** The owner of the event loop's time. If undefined, the links have one of their own. */
  readonly loop?: Loop | undefined;
  readonly logger: Logger;
  /**
   * The service that is told of connections and messages. Called for each event, because the member is made after its network.
   * `introduce` tells it of connections that were made before.
   */
  readonly service: () => PeerService | undefined;
  /** Sends to a member that this one has no connection to, over the connection that the other member has made. False: none. */
  readonly sendBack?: (member: bigint, bytes: Uint8Array) => boolean;
  /** Called for each measured time from a member and back. */
  readonly onRoundTrip?: (member: bigint, ms: number) => void;
  /** The member list has changed. */
  readonly onMembers?: () => void;
}

interface Link {
  readonly urls: readonly string[];
  readonly link: PeerLink;
}

/** A connection to every other member. If a peer URL cannot be reached, the member's next one is tried. */
export class PeerLinks implements PeerNetwork, Disposable {
  readonly traffic = new Traffic();
  readonly #options: PeerLinksOptions;
  readonly #loop: Loop;
  readonly #links = new Map<bigint, Link>();

  /** Why the last attempt failed, by URL. */
  readonly #unreached = new Map<string, string>();
  readonly #secure: DialedTls;
  readonly #plain: DialedTls;

  /** Throws if the certificates cannot be read. */
  constructor(options: PeerLinksOptions) {
    this.#options = options;
    this.#loop = options.loop ?? new Loop(options);
    this.#secure = new DialedTls(options.tls, options.logger);
    this.#plain = new DialedTls(undefined, options.logger);
  }

  /** A URL that cannot be dialed counts as one that is not reached. */
  setMembers(members: readonly PeerAddress[]): void {
    const { memberId } = this.#options;
    const wanted = new Map(members.filter(({ id }) => id !== memberId).map(({ id, peerUrls }) => [id, peerUrls]));
    this.traffic.setMembers([...wanted.keys()]);
    for (const [id, { urls, link }] of this.#links) {
      if (wanted.get(id)?.join() === urls.join()) continue;
      this.#links.delete(id);
      link.close();
    }
    this.#options.onMembers?.();
    const known = new Set([...wanted.values()].flat());
    for (const url of this.#unreached.keys()) if (!known.has(url)) this.#unreached.delete(url);
    for (const [id, urls] of wanted) {
      if (!this.#links.has(id)) this.#open(id, urls, 0);
    }
  }

  /** Tells the service of the existing connections, because it may have been made after them. */
  introduce(): void {
    for (const [id, { link }] of this.#links) if (link.isConnected) this.#options.service()?.connected(id);
  }

  send(member: bigint, bytes: Uint8Array): void {
    const found = this.#links.get(member);
    const sent =
      found?.link.isConnected === true ? found.link.send(bytes) : this.#options.sendBack?.(member, bytes) === true;
    const traffic = this.traffic.with(member);
    if (!sent && traffic !== undefined) traffic.sendFailures += 1;
  }

  call(member: bigint, request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    const found = this.#links.get(member);
    return found === undefined ? Promise.reject(noWayTo(member)) : found.link.call(request, signal);
  }

  follow(member: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#linkTo(member).follow(from, signal);
  }

  refusedBatch(member: bigint): void {
    const traffic = this.traffic.with(member);
    if (traffic !== undefined) traffic.refusedBatches += 1;
  }

  [Symbol.dispose](): void {
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
  }

  #linkTo(member: bigint): PeerLink {
    const found = this.#links.get(member);
    if (found === undefined) throw noWayTo(member);
    return found.link;
  }

  /** Dials the first URL from `first` on that can be dialed. Without one there is no link to this member. */
  #open(id: bigint, urls: readonly string[], first: number): void {
    for (let tries = 0; tries < urls.length; tries += 1) {
      const at = (first + tries) % urls.length;
      const dialed = dialTargetOf(urls[at]!);
      if (dialed !== undefined) {
        this.#dial(id, urls, at, dialed);
        return;
      }
      this.#unreachedFor(id, urls[at]!, 'this program dials only http://host:port and https://host:port');
    }
  }

  /** Logs why an address is not reached: once for each reason, not ten times a second. */
  #unreachedFor(id: bigint, url: string, why: string): void {
    if (this.#unreached.get(url) === why) return;
    this.#unreached.set(url, why);
    this.#options.logger.warn({ member: id.toString(16), url, error: why }, 'cannot reach a member');
  }

  #dial(id: bigint, urls: readonly string[], at: number, dialed: DialTarget): void {
    const url = urls[at]!;
    const { clusterId, memberId, storeId, foundingId = 0n, tls, clock, logger, service, onRoundTrip } = this.#options;
    const traffic = this.traffic.with(id) ?? new PeerTraffic();
    const member = id.toString(16);
    if (!dialed.secure && tls !== undefined)
      logger.warn({ member, url }, 'this member has a certificate, and dials in plain text');
    const link = new PeerLink({
      hello: { cluster: clusterId, from: memberId, to: id, store: storeId, founding: foundingId },
      dialed,
      tls: dialed.secure ? this.#secure : this.#plain,
      clock,
      loop: this.#loop,
      traffic,
      onRoundTrip: (ms) => onRoundTrip?.(id, ms),
      onMessage: (bytes) => {
        const fault = service()?.message(bytes, { member: id, dialed: true });
        if (fault !== undefined) traffic.refused += 1;
        return fault === undefined;
      },
      onConnected: () => {
        logger.info({ member, url }, 'connected to a member');
        this.#unreached.delete(url);
        service()?.connected(id);
      },
      onDisconnected: () => {
        logger.info({ member, url }, 'lost the connection to a member');
        service()?.disconnected(id);
      },
      onGone: () => service()?.gone(id),
      onUnreached: (why) => {
        this.#unreachedFor(id, url, why);
        if (urls.length === 1 || this.#links.get(id)?.link !== link) return;
        link.close();
        this.#open(id, urls, (at + 1) % urls.length);
      },
    });
    this.#links.set(id, { urls, link });
  }
}

const noWayTo = (member: bigint): PeerError =>
  new PeerError('unsent', `there is no way to member ${member.toString(16)}`);
