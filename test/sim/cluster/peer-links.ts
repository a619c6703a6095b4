import type { LogPosition } from '@engram/core';
import { type PeerAddress, PeerError, type PeerNetwork, type PeerService } from '@engram/member';
import type { SimHost, SimNetwork, SimProcess } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { PeerLink } from './peer-link.ts';

export interface PeerLinksOptions {
  readonly network: SimNetwork;
  readonly self: bigint;
  readonly process: SimProcess;
  /** The host of a member, even if the member does not run. */
  readonly hostOf: (member: bigint) => SimHost;
  readonly serviceOf: (process: SimProcess) => PeerService | undefined;
  /** Whether it is no defect that `peer` does not take a message of this member. Default: never. */
  readonly mayRefuse?: ((peer: bigint, fault: string) => boolean) | undefined;
}

/** The list of a member lags behind, or another one does not know of its removal. */
const EXPECTED_FAULTS: ReadonlySet<string> = new Set([
  'a message of a removed member',
  'a message of a member that is not in the list',
]);

/** A process' connections to the other members, as packages/peer keeps them. */
export class PeerLinks implements PeerNetwork {
  readonly #options: PeerLinksOptions;
  readonly #links = new Map<bigint, PeerLink>();

  constructor(options: PeerLinksOptions) {
    this.#options = options;
  }

  setMembers(members: readonly PeerAddress[]): void {
    const wanted = new Set(members.map(({ id }) => id).filter((id) => id !== this.#options.self));
    for (const [id, link] of this.#links) {
      if (wanted.has(id)) continue;
      this.#links.delete(id);
      link.close();
    }
    for (const id of wanted) this.#open(id);
  }

  send(member: bigint, bytes: Uint8Array): void {
    const found = this.#links.get(member);
    if (found !== undefined) {
      found.send(bytes);
      return;
    }
    // Uses the connection that the other member has made, if there is one.
    const { network, self, process, hostOf, serviceOf } = this.#options;
    const sent = bytes.slice();
    network.send(process, hostOf(member), (receiver) => {
      const fault = serviceOf(receiver)?.message(sent, { member: self, dialed: true });
      if (fault !== undefined) this.#refused(member, fault);
    });
  }

  async call(member: bigint, request: Uint8Array, signal: AbortSignal): Promise<Uint8Array> {
    return this.#linkTo(member).call(request, signal);
  }

  follow(member: bigint, from: LogPosition, signal: AbortSignal): AsyncIterable<LogBatch> {
    return this.#linkTo(member).follow(from, signal);
  }

  /** See `PeerLinksOptions.serviceOf`. */
  serviceOf(process: SimProcess): PeerService | undefined {
    return this.#options.serviceOf(process);
  }

  /** The network ends the connection to this member. */
  reset(member: bigint): void {
    this.#links.get(member)?.reset();
  }

  /** Members that keep the rules take all other messages of each other. */
  #refused(peer: bigint, fault: string): void {
    if (EXPECTED_FAULTS.has(fault) || this.#options.mayRefuse?.(peer, fault) === true) return;
    throw new Error(`a message of a member was refused: ${fault}`);
  }

  #linkTo(member: bigint): PeerLink {
    const found = this.#links.get(member);
    if (found === undefined) throw new PeerError('unsent', `there is no way to member ${member}`);
    return found;
  }

  #open(id: bigint): void {
    const { network, self, process, hostOf, serviceOf } = this.#options;
    if (this.#links.has(id)) return;
    const own = (): PeerService | undefined => serviceOf(process);
    this.#links.set(
      id,
      new PeerLink({
        network,
        from: process,
        self,
        onRefused: (fault) => this.#refused(id, fault),
        to: () => hostOf(id),
        serviceOf,
        onConnected: () => own()?.connected(id),
        onDisconnected: () => own()?.disconnected(id),
        onGone: () => own()?.gone(id),
      }),
    );
  }
}
