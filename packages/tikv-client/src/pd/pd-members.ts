import { type Clock, GrpcCode, type Logger } from '@engram/core';
import { decode, encode } from '@engram/protobuf';
import { TikvError } from '../errors.ts';
import { GetMembersRequestCodec, GetMembersResponseCodec, type GetMembersResponse } from '../proto/gen/pdpb.ts';
import type { Call } from '../runtime/call.ts';
import { type Channel, isTransportError, type Transport, TransportError } from '../transport/transport.ts';
import { type PdUrl, parsePdUrl } from './pd-url.ts';

const REFRESH_MS = 60_000;
const MEMBERS_TIMEOUT_MS = 1_000;

/**
 * The PD members and their leader. Every member names the leader, but only the leader serves. Members are asked again when a
 * call fails, and in the background of a call when the last answer is a minute old. Their cluster id never changes.
 */
export class PdMembers {
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #logger: Logger | undefined;
  readonly #secure: boolean;
  readonly #channels = new Map<string, Channel>();
  #known: PdUrl[];
  #leader: PdUrl | undefined;
  #clusterId: bigint | undefined;
  #refreshedMs = 0;
  #refreshing: Promise<void> | undefined;
  #closed = false;

  constructor(
    transport: Transport,
    clock: Clock,
    seeds: readonly string[],
    options: { logger: Logger | undefined; secure: boolean; clusterId: bigint | undefined },
  ) {
    if (seeds.length === 0) throw new TikvError('invalid-argument', 'no PD address is given');
    this.#transport = transport;
    this.#clock = clock;
    this.#logger = options.logger;
    this.#secure = options.secure;
    this.#clusterId = options.clusterId;
    this.#known = seeds.map(parsePdUrl);
  }

  get clusterId(): bigint {
    if (this.#clusterId === undefined) throw new TikvError('pd-unreachable', 'not connected yet');
    return this.#clusterId;
  }

  get leaderAddress(): string | undefined {
    return this.#leader?.address;
  }

  /** Asks every seed, so that a seed of another cluster is found before it gets any other request. */
  async start(call: Call): Promise<void> {
    for (let round = 0; ; round += 1) {
      const answers = await Promise.allSettled(this.#known.map((url) => this.#ask(url, call)));
      const causes: unknown[] = [];
      for (const [at, answer] of answers.entries()) {
        if (answer.status === 'rejected') causes.push(answer.reason);
        else {
          this.#checkCluster(answer.value, this.#known[at]!);
          this.#clusterId ??= answer.value.header?.clusterId;
        }
      }
      for (const answer of answers) {
        if (answer.status === 'fulfilled' && this.#learn(answer.value)) return;
      }
      const fatal = causes.find(
        (cause) => cause instanceof TikvError && (cause.code === 'tls-failed' || cause.code === 'invalid-argument'),
      );
      if (fatal !== undefined) throw fatal;
      const cause = new TikvError('pd-unreachable', causes.map(String).join('; ') || 'no member knows a leader');
      await call.sleep(Math.min(100, 20 * 2 ** Math.min(round, 4)), cause).catch((error: unknown) => {
        throw error instanceof TikvError && error.code === 'deadline-exceeded' ? cause : error;
      });
    }
  }

  /** The leader's channel. If no leader is known, waits for one within the call's deadline. */
  async leader(call: Call): Promise<Channel> {
    if (this.#leader === undefined) await this.refresh(call);
    else if (this.#clock.nowMs() - this.#refreshedMs > REFRESH_MS) void this.refresh(call).catch(() => {});
    return this.channel(this.#leader!);
  }

  /**
   * Asks the leader that is known which cluster it is in: PD refuses the id of another cluster with a code that it also has for other
   * refusals. Throws cluster-mismatch, and nothing if the leader does not answer.
   */
  async checkLeader(call: Call): Promise<void> {
    const url = this.#leader;
    if (url === undefined) return;
    let answer: GetMembersResponse;
    try {
      answer = await this.#ask(url, call);
    } catch (error) {
      call.check(error);
      return;
    }
    this.#checkCluster(answer, url);
  }

  channel(url: PdUrl): Channel {
    if (this.#closed) throw new TikvError('closed');
    const found = this.#channels.get(url.address);
    if (found !== undefined) return found;
    const channel = this.#transport.connect(url.address, url.secure || this.#secure);
    this.#channels.set(url.address, channel);
    return channel;
  }

  /** Finds the leader again, in rounds over all members. Concurrent calls share one search, each with its own deadline. */
  refresh(call: Call): Promise<void> {
    this.#refreshing ??= this.#search().finally(() => {
      this.#refreshing = undefined;
    });
    return call.wait(this.#refreshing);
  }

  /** A search has at most five rounds, so that it does not outlive its callers for long. Later callers start another. */
  async #search(): Promise<void> {
    this.#refreshedMs = this.#clock.nowMs();
    let cause: unknown;
    for (let round = 0; round < 5 && !this.#closed; round += 1) {
      for (const url of [...this.#known]) {
        if (this.#closed) break;
        try {
          const answer = await this.#ask(url, undefined);
          this.#checkCluster(answer, url);
          if (this.#learn(answer)) return;
        } catch (error) {
          cause = error;
        }
      }
      await new Promise<void>((resolve) => {
        this.#clock.after(Math.min(100, 20 * 2 ** round), resolve);
      });
    }
    throw new TikvError('pd-unreachable', cause === undefined ? 'no member knows a leader' : String(cause), { cause });
  }

  /** Closes a channel whose connection failed. The next use makes a new one, with fresh credentials and without backoff. */
  drop(channel: Channel): void {
    for (const [address, known] of this.#channels) {
      if (known === channel) this.#channels.delete(address);
    }
    channel.close();
  }

  close(): void {
    this.#closed = true;
    for (const channel of this.#channels.values()) channel.close();
    this.#channels.clear();
  }

  async #ask(url: PdUrl, call: Call | undefined): Promise<GetMembersResponse> {
    const channel = this.channel(url);
    try {
      const bytes = await channel.unary('/pdpb.PD/GetMembers', encode(GetMembersRequestCodec, {}), {
        timeoutMs: Math.max(1, Math.min(MEMBERS_TIMEOUT_MS, call?.remainingMs() ?? MEMBERS_TIMEOUT_MS)),
        signal: call?.signal,
      });
      const answer = decode(GetMembersResponseCodec, bytes);
      if (answer.header?.error !== undefined && answer.header.error.type !== 0) {
        throw new TransportError(GrpcCode.UNAVAILABLE, answer.header.error.message);
      }
      return answer;
    } catch (error) {
      if (isTransportError(error)) {
        this.drop(channel);
        if (error.tls) throw new TikvError('tls-failed', `${url.address}: ${error.message}`, { cause: error });
      }
      throw error;
    }
  }

  #checkCluster(answer: GetMembersResponse, url: PdUrl): void {
    const clusterId = answer.header?.clusterId ?? 0n;
    if (this.#clusterId === undefined || clusterId === this.#clusterId) return;
    this.#logger?.error(
      { member: url.address, clusterId: `${clusterId}`, expected: `${this.#clusterId}` },
      'PD member of another cluster',
    );
    throw new TikvError('cluster-mismatch', `${url.address} is in cluster ${clusterId}, not ${this.#clusterId}`);
  }

  /** False if the answer names no leader. */
  #learn(answer: GetMembersResponse): boolean {
    const url = answer.leader?.clientUrls[0];
    if (url === undefined) return false;
    const known = answer.members.flatMap((member) =>
      member.clientUrls[0] === undefined ? [] : [parsePdUrl(member.clientUrls[0])],
    );
    // Seeds stay in the list: a seed may be a DNS name that stays valid when the addresses of all members change.
    const addresses = new Set(known.map(({ address }) => address));
    this.#known = [...known, ...this.#known.filter(({ address }) => !addresses.has(address))].slice(0, 64);
    this.#leader = parsePdUrl(url);
    this.#refreshedMs = this.#clock.nowMs();
    return true;
  }
}
