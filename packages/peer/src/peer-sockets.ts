import { addressShare, type Clock, type Timer } from '@engram/core';

/** Sockets of peers that have not said yet who they are, TLS handshakes included. */
export const STRANGERS_MAX = 64;
/** For how long such a socket is kept. */
const STRANGER_MS = 10_000;
/** Sockets of one member: one, and those of earlier connections that have not been found dead yet. */
const SOCKETS_OF_MEMBER_MAX = 4;

/** What is used of a socket. */
export interface PeerSocket {
  readonly remoteAddress?: string | undefined;
  readonly remotePort?: number | undefined;
  on(event: 'error' | 'close', listener: () => void): unknown;
  destroy(): unknown;
}

interface Stranger {
  readonly socket: PeerSocket;
  readonly timer: Timer;
  /** What counts as its address. */
  readonly share: string;
}

/**
 * The sockets of peers, bounded: a file descriptor that a stranger holds is one that the store lacks. Beyond the bound the oldest
 * stranger of the address that has most of them is closed. So a flood from one address does not keep a member of another one
 * from saying who it is.
 */
export class PeerSockets {
  readonly #clock: Clock;
  /** In the order of their acceptance, by remote address. */
  readonly #strangers = new Map<string, Stranger>();
  readonly #ofMembers = new Map<bigint, Set<string>>();
  readonly #all = new Map<string, PeerSocket>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  get count(): number {
    return this.#all.size;
  }

  accept(socket: PeerSocket): void {
    const name = nameOf(socket.remoteAddress, socket.remotePort);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#closed(name, socket));
    this.#all.set(name, socket);
    this.#addStranger(name, socket);
  }

  /** The peer at this address is no member, and its stream has ended: until it says again who it is, it is a stranger. */
  left(peer: string): void {
    const socket = this.#all.get(peer);
    if (socket === undefined || this.#strangers.has(peer)) return;
    this.#forgetMember(peer);
    this.#addStranger(peer, socket);
  }

  #addStranger(name: string, socket: PeerSocket): void {
    const timer = this.#clock.after(STRANGER_MS, () => socket.destroy());
    this.#strangers.set(name, { socket, timer, share: addressShare(socket.remoteAddress ?? '') });
    if (this.#strangers.size > STRANGERS_MAX) this.#closeOne();
  }

  #closeOne(): void {
    const counts = new Map<string, number>();
    for (const { share } of this.#strangers.values()) counts.set(share, (counts.get(share) ?? 0) + 1);
    const most = Math.max(...counts.values());
    for (const [name, { socket, timer, share }] of this.#strangers) {
      if (counts.get(share) !== most) continue;
      this.#strangers.delete(name);
      timer.cancel();
      socket.destroy();
      return;
    }
  }

  /** The peer at this address, as gRPC names it, is this member. False if the member has too many sockets already. */
  greeted(peer: string, member: bigint): boolean {
    const stranger = this.#strangers.get(peer);
    if (stranger === undefined) return true; // a further stream of the socket
    let sockets = this.#ofMembers.get(member);
    if (sockets === undefined) {
      sockets = new Set();
      this.#ofMembers.set(member, sockets);
    }
    if (sockets.size >= SOCKETS_OF_MEMBER_MAX) return false;
    sockets.add(peer);
    stranger.timer.cancel();
    this.#strangers.delete(peer);
    return true;
  }

  /** Ends the connection of the peer at this address. */
  drop(peer: string): void {
    this.#all.get(peer)?.destroy();
  }

  closeAll(): void {
    for (const socket of this.#all.values()) socket.destroy();
  }

  #closed(name: string, socket: PeerSocket): void {
    if (this.#all.get(name) !== socket) return;
    this.#all.delete(name);
    this.#strangers.get(name)?.timer.cancel();
    this.#strangers.delete(name);
    this.#forgetMember(name);
  }

  #forgetMember(name: string): void {
    for (const [member, sockets] of this.#ofMembers) {
      if (sockets.delete(name) && sockets.size === 0) this.#ofMembers.delete(member);
    }
  }
}

/** As `getPeer` of a call has it. */
const nameOf = (address: string | undefined, port: number | undefined): string => `${address}:${port}`;
