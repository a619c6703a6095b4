import type { LogPosition, Timer } from '@engram/core';
import { PeerError, type PeerService } from '@engram/member';
import type { SimHost, SimNetwork, SimProcess } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { BatchStream } from './batch-stream.ts';

export interface PeerLinkOptions {
  readonly network: SimNetwork;
  readonly from: SimProcess;
  /** The member that dials. */
  readonly self: bigint;
  /** A message was not taken. */
  readonly onRefused: (fault: string) => void;
  /** The host to which the address leads now. */
  readonly to: () => SimHost;
  /** The peer service of the process on the other host. Undefined if it does not listen yet. */
  readonly serviceOf: (process: SimProcess) => PeerService | undefined;
  readonly onConnected: () => void;
  readonly onDisconnected: () => void;
  /** Called when the address refuses a connection. */
  readonly onGone: () => void;
}

interface Waiting {
  readonly resolve: (answer: Uint8Array) => void;
  readonly reject: (error: unknown) => void;
}

/** The values of the real connection: see packages/peer. */
const RETRY_MS = 100;
const KEEPALIVE_MS = 2000;
const KEEPALIVE_TIMEOUT_MS = 2000;
const DIAL_TIMEOUT_MS = 1000;
/** Time until a host answers for a dead process. */
const RESET_MS = 0.2;

/**
 * One member's connection to another, as packages/peer makes it with gRPC. It ends when the other process dies, or when
 * no keepalive is answered in time, and is dialled again. Raft's messages may be lost, repeated and out of order. A
 * call gets an answer or ends with the connection.
 */
export class PeerLink {
  readonly #options: PeerLinkOptions;
  /** The connected process; undefined if not connected. */
  #peer: SimProcess | undefined;
  /** The host that was dialled last. */
  #to: SimHost;
  /** Counts connections. Messages of an earlier one are dropped. */
  #connection = 0;
  #heard = false;
  #timer: Timer | undefined;
  #closed = false;
  #calls = new Set<Waiting>();
  #streams = new Set<BatchStream>();

  constructor(options: PeerLinkOptions) {
    this.#options = options;
    this.#to = options.to();
    this.#dial();
  }

  send(bytes: Uint8Array): void {
    const peer = this.#peer;
    if (peer === undefined) return;
    const sent = bytes.slice();
    const { network, from, self, serviceOf } = this.#options;
    network.send(from, peer.host, (receiver) => {
      if (receiver !== peer) return;
      const fault = serviceOf(receiver)?.message(sent, { member: self, dialed: false });
      if (fault !== undefined) this.#options.onRefused(fault);
    });
  }

  call(request: Uint8Array, signal?: AbortSignal): Promise<Uint8Array> {
    const peer = this.#peer;
    if (peer === undefined) return Promise.reject(new PeerError('unsent', `${this.#name} is not connected`));
    if (signal?.aborted === true) return Promise.reject(signal.reason);
    const { from, network, self, serviceOf } = this.#options;
    const connection = this.#connection;
    const sent = request.slice();
    return new Promise<Uint8Array>((resolve, reject) => {
      const nobodyWaits = new AbortController();
      const waiting: Waiting = {
        resolve: (answer) => {
          settled();
          resolve(answer);
        },
        reject: (error) => {
          settled();
          reject(error);
        },
      };
      const cancel = (): void => {
        network.sendSurely(from, peer.host, () => nobodyWaits.abort(new PeerError('lost', 'nobody waits')));
        waiting.reject(signal?.reason);
      };
      const settled = (): void => {
        this.#calls.delete(waiting);
        signal?.removeEventListener('abort', cancel);
      };
      signal?.addEventListener('abort', cancel, { once: true });
      this.#calls.add(waiting);
      const givenUp = (): void => {
        from.after(0, () => {
          if (connection === this.#connection) this.reset();
        });
      };
      const answered = (answer: Uint8Array): void => {
        const arrive = (receiver: unknown): void => {
          if (receiver === from && connection === this.#connection && this.#calls.has(waiting)) waiting.resolve(answer);
        };
        network.sendSurely(peer, from.host, arrive, givenUp);
      };
      const arrive = (receiver: unknown): void => {
        const service = receiver === peer ? serviceOf(peer) : undefined;
        if (service === undefined) return;
        from.atEnd(() =>
          peer.after(RESET_MS, () => nobodyWaits.abort(new PeerError('lost', 'the connection has ended'))),
        );
        // An error of the member itself is not answered.
        service.call(sent, { member: self, signal: nobodyWaits.signal }).then(answered, () => undefined);
      };
      network.sendSurely(from, peer.host, arrive, givenUp);
    });
  }

  async *follow(from: LogPosition, signal: AbortSignal): AsyncGenerator<LogBatch> {
    const peer = this.#peer;
    if (peer === undefined) throw new PeerError('unsent', `${this.#name} is not connected`);
    const { network, serviceOf } = this.#options;
    const stream = new BatchStream({ network, reader: this.#options.from, writer: peer, serviceOf });
    this.#streams.add(stream);
    const cancel = (): void => stream.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      yield* stream.read(from, signal);
    } finally {
      signal.removeEventListener('abort', cancel);
      this.#streams.delete(stream);
      stream.cancel();
    }
  }

  /** The network ends the connection. Messages under way may still arrive. */
  reset(): void {
    if (this.#peer !== undefined) this.#broken();
  }

  close(): void {
    this.#closed = true;
    this.#ended();
  }

  #dial(): void {
    const { from, network, serviceOf } = this.#options;
    const to = this.#options.to();
    this.#to = to;
    this.#connection += 1;
    const connection = this.#connection;
    const isCurrent = (): boolean => connection === this.#connection && !this.#closed;
    const timer = from.clock.after(DIAL_TIMEOUT_MS, () => {
      if (isCurrent()) this.#redial();
    });
    this.#timer = timer;
    const connected = (peer: SimProcess): void => {
      if (!isCurrent() || this.#peer !== undefined) return;
      timer.cancel();
      this.#peer = peer;
      peer.atEnd(() => this.#reset(connection));
      this.#heard = true;
      this.#keepAlive(connection);
      this.#options.onConnected();
    };
    network.sendSurely(from, to, (receiver) => {
      // The address refuses until a process listens there.
      const listens = receiver !== undefined && serviceOf(receiver) !== undefined;
      if (listens) network.sendSurely(receiver, from.host, (back) => void (back === from && connected(receiver)));
      else this.#refused(isCurrent);
    });
  }

  /** The host refuses for a missing process, if the way back is open. */
  #refused(isCurrent: () => boolean): void {
    const { from, network } = this.#options;
    if (network.isCut(this.#to, from.host)) return;
    from.after(RESET_MS, () => {
      if (!isCurrent()) return;
      this.#options.onGone();
      this.#redial();
    });
  }

  #redial(): void {
    this.#connection += 1;
    this.#timer?.cancel();
    this.#timer = this.#options.from.clock.after(RETRY_MS, () => {
      if (!this.#closed) this.#dial();
    });
  }

  /** The host of the dead process resets the connection, if the way back is open. */
  #reset(connection: number): void {
    const { from, network } = this.#options;
    if (network.isCut(this.#to, from.host)) return;
    from.after(RESET_MS, () => {
      if (connection === this.#connection) this.#broken();
    });
  }

  #keepAlive(connection: number): void {
    const { from, network } = this.#options;
    const peer = this.#peer!;
    const isCurrent = (): boolean => connection === this.#connection && !this.#closed;
    this.#timer = from.clock.after(KEEPALIVE_MS, () => {
      if (!isCurrent()) return;
      this.#heard = false;
      // Lost packets of a connection are sent again, so only a cut stops a keepalive.
      const pinged = (receiver: SimProcess | undefined): void => {
        if (receiver !== peer) return;
        network.sendSurely(peer, from.host, (back) => {
          if (back === from && isCurrent()) this.#heard = true;
        });
      };
      network.sendSurely(from, peer.host, pinged);
      this.#timer = from.clock.after(KEEPALIVE_TIMEOUT_MS, () => {
        if (!isCurrent()) return;
        if (this.#heard) this.#keepAlive(connection);
        else this.#broken();
      });
    });
  }

  #broken(): void {
    if (this.#closed) return;
    this.#ended();
    this.#redial();
  }

  #ended(): void {
    this.#timer?.cancel();
    const wasConnected = this.#peer !== undefined;
    this.#peer = undefined;
    this.#connection += 1;
    for (const { reject } of [...this.#calls])
      reject(new PeerError('lost', `the connection to ${this.#name} has ended`));
    for (const stream of this.#streams) stream.broken();
    if (wasConnected) this.#options.onDisconnected();
  }

  get #name(): string {
    return this.#to.name;
  }
}
