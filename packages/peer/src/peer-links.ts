import type { Clock, Logger, LogPosition } from '@engram/core';
import { type PeerAddress, PeerError, type PeerNetwork, type PeerService } from '@engram/member';
import type { LogBatch } from '@engram/storage';
import { PeerLink } from './peer-link.ts';
import type { PeerTls } from './tls.ts';

export interface PeerLinksOptions {
  readonly clusterId: bigint;
  readonly memberId: bigint;
  readonly tls: PeerTls | undefined;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Told of connections; asked at the time, because the member comes to be after its network. */
  readonly service: () => PeerService | undefined;
}

interface Link {
  readonly url: string;
  readonly link: PeerLink;
}

/** A connection to every other member. */
export class PeerLinks implements PeerNetwork, Disposable {
  readonly #options: PeerLinksOptions;
  readonly #links = new Map<bigint, Link>();

  constructor(options: PeerLinksOptions) {
    this.#options = options;
  }

  setMembers(members: readonly PeerAddress[]): void {
    const { memberId } = this.#options;
    const wanted = new Map(members.filter(({ id }) => id !== memberId).map(({ id, peerUrls }) => [id, peerUrls[0]]));
    for (const [id, { url, link }] of this.#links) {
      if (wanted.get(id) === url) continue;
      this.#links.delete(id);
      link.close();
    }
    for (const [id, url] of wanted) {
      if (url !== undefined && !this.#links.has(id)) this.#links.set(id, { url, link: this.#open(id, url) });
    }
  }

  send(member: bigint, bytes: Uint8Array): void {
    this.#links.get(member)?.link.send(bytes);
  }

  async call(member: bigint, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return this.#linkTo(member).call(request, signal);
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
    if (found === undefined) throw new PeerError('unsent', `there is no way to member ${member.toString(16)}`);
    return found.link;
  }

  #open(id: bigint, url: string): PeerLink {
    const { clusterId, memberId, tls, clock, logger, service } = this.#options;
    const { host, protocol } = new URL(url);
    const member = id.toString(16);
    return new PeerLink({
      hello: { cluster: clusterId, from: memberId, to: id },
      target: host,
      tls: protocol === 'https:' ? tls : undefined,
      clock,
      onConnected: () => {
        logger.info({ member, url }, 'connected to a member');
        service()?.connected(id);
      },
      onDisconnected: () => {
        logger.info({ member, url }, 'lost the connection to a member');
        service()?.disconnected(id);
      },
      onGone: () => service()?.gone(id),
    });
  }
}
