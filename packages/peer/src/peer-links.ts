import type { Clock, Logger, LogPosition } from '@engram/core';
import { type PeerAddress, PeerError, type PeerNetwork, type PeerService } from '@engram/member';
import type { LogBatch } from '@engram/storage';
import { PeerLink } from './peer-link.ts';
import { PeerTraffic, Traffic } from './peer-traffic.ts';
import { DialedTls, type PeerTls } from './tls.ts';

export interface PeerLinksOptions {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly tls: PeerTls | undefined;
  readonly clock: Clock;
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
}

interface Link {
  readonly urls: readonly string[];
  readonly link: PeerLink;
}

/** A connection to every other member. If a peer URL cannot be reached, the member's next one is tried. */
export class PeerLinks implements PeerNetwork, Disposable {
  readonly traffic = new Traffic();
  readonly #options: PeerLinksOptions;
  readonly #links = new Map<bigint, Link>();

  /** Why the last attempt failed, by URL. The reason is logged only when it changes, not ten times a second. */
  readonly #unreached = new Map<string, string>();
  readonly #secure: DialedTls;
  readonly #plain: DialedTls;

  /** Throws if the certificates cannot be read. */
  constructor(options: PeerLinksOptions) {
    this.#options = options;
    this.#secure = new DialedTls(options.tls, options.logger);
    this.#plain = new DialedTls(undefined, options.logger);
  }

  setMembers(members: readonly PeerAddress[]): void {
    const { memberId } = this.#options;
    const wanted = new Map(members.filter(({ id }) => id !== memberId).map(({ id, peerUrls }) => [id, peerUrls]));
    this.traffic.setMembers([...wanted.keys()]);
    for (const [id, { urls, link }] of this.#links) {
      if (wanted.get(id)?.join() === urls.join()) continue;
      this.#links.delete(id);
      link.close();
    }
    for (const [id, urls] of wanted) {
      if (urls.length > 0 && !this.#links.has(id)) this.#open(id, urls, 0);
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

  [Symbol.dispose](): void {
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
  }

  #linkTo(member: bigint): PeerLink {
    const found = this.#links.get(member);
    if (found === undefined) throw noWayTo(member);
    return found.link;
  }

  #open(id: bigint, urls: readonly string[], at: number): void {
    const url = urls[at]!;
    const { clusterId, memberId, clock, logger, service, onRoundTrip } = this.#options;
    const traffic = this.traffic.with(id) ?? new PeerTraffic();
    const { host, protocol } = new URL(url);
    const member = id.toString(16);
    const link = new PeerLink({
      hello: { cluster: clusterId, from: memberId, to: id },
      target: host,
      tls: protocol === 'https:' ? this.#secure : this.#plain,
      clock,
      traffic,
      onRoundTrip: (ms) => onRoundTrip?.(id, ms),
      onMessage: (bytes) => service()?.message(bytes),
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
        if (this.#unreached.get(url) !== why) {
          this.#unreached.set(url, why);
          logger.warn({ member, url, error: why }, 'cannot reach a member');
        }
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
