import { type Clock, GrpcCode } from '@engram/core';
import { type Codec, decode, encode } from '@engram/protobuf';
import type { ErrorInit as RegionErrorInit } from '../proto/gen/errorpb.ts';
import { type Transport, TransportError, unavailable } from '../transport/transport.ts';
import { FakeChannel, type FakeStream } from './fake-channel.ts';
import { FakeMvcc, type Flavour } from './fake-mvcc.ts';
import { FakePd } from './fake-pd.ts';
import { FakeRegions } from './fake-regions.ts';
import { type FakeCall, FakeStore } from './fake-store.ts';
import { type CommandName, storeCommands } from './store-commands.ts';
import { Refusal } from './strict/refusal.ts';
import { StrictChecker } from './strict/strict-checker.ts';

/**
 * What happens to a request instead of its plain execution. `region-error`: it is answered with the error, and executed or not.
 * `exhausted`: the server has no room for it, and ends the stream with these words. `lose`: it is executed and the connection
 * breaks, with these words of the server if any. `silence`: it is executed or not, and never answered. `twice`: the answer comes
 * twice. `delay`: it is executed after this time, even if the connection has ended by then.
 */
export type Fault =
  | { readonly kind: 'region-error'; readonly error: RegionErrorInit; readonly executed?: boolean }
  | { readonly kind: 'answer'; readonly response: object }
  | { readonly kind: 'refuse' }
  | { readonly kind: 'exhausted'; readonly words: string }
  | { readonly kind: 'lose'; readonly words?: string }
  | { readonly kind: 'silence'; readonly executed: boolean }
  | { readonly kind: 'twice' }
  | { readonly kind: 'delay'; readonly ms: number };

/** Decides the fault of a request. Undefined if the script has none for it. */
export type Script = (call: FakeCall) => Fault | undefined;

export interface FakeClusterOptions {
  readonly clock: Clock;
  readonly stores?: number;
  readonly pdMembers?: number;
  readonly flavour?: Flavour;
  /** Whether `calls` and `pdCalls` are kept; true. Long simulations keep none. */
  readonly keepsCalls?: boolean;
}

/** How a store sends answers: one message for each, or all answers of a turn together, the last first. */
export type AnswerOrder = 'single' | 'reversed';

/** A whole cluster in one process: PD and stores behind the transport port, and scripts that inject faults. */
export class FakeCluster {
  readonly clock: Clock;
  readonly mvcc: FakeMvcc;
  readonly regions: FakeRegions;
  readonly pd: FakePd;
  readonly stores = new Map<number, FakeStore>();
  /** Every request that reached a store, in order. */
  readonly calls: FakeCall[] = [];
  /** Every call that reached PD: "member/method". */
  readonly pdCalls: string[] = [];
  /** Addresses that refuse connections. */
  readonly down = new Set<string>();
  /** Addresses that accept requests and never answer. */
  readonly paused = new Set<string>();
  /** Addresses whose windows take no bytes of streams; of other calls they do. */
  readonly shut = new Set<string>();
  answerOrder: AnswerOrder = 'single';
  /**
   * The first request that the strictest server would not have accepted. It stopped a store, or PD refused it. A test that does
   * not provoke a refusal must end with this undefined.
   */
  refusal: Refusal | undefined;
  readonly #keepsCalls: boolean;
  readonly #strict = new StrictChecker();
  readonly #scripts: Script[] = [];
  readonly #pdScripts: ((member: number, method: string) => TransportError | undefined)[] = [];
  readonly #streams = new Map<string, Set<FakeStream>>();

  constructor({ clock, stores = 3, pdMembers = 1, flavour = 'tikv', keepsCalls = true }: FakeClusterOptions) {
    this.clock = clock;
    this.#keepsCalls = keepsCalls;
    this.mvcc = new FakeMvcc(flavour);
    const ids = Array.from({ length: stores }, (_, at) => at + 1);
    this.regions = new FakeRegions(ids);
    this.pd = new FakePd(
      clock,
      this.regions,
      Array.from({ length: pdMembers }, (_, at) => `pd${at}:2379`),
      this.#strict,
    );
    for (const id of ids) {
      this.stores.set(id, new FakeStore(id, this.mvcc, this.regions, () => this.pd.newest));
      this.pd.stores.set(id, { address: `store${id}:20160`, state: 0 });
    }
  }

  get pdAddresses(): readonly string[] {
    return this.pd.members;
  }

  /** The transport for the client under test. */
  get transport(): Transport {
    return { connect: (address) => new FakeChannel(this, address) };
  }

  /** Adds a script. Scripts are asked in order, and the first fault counts. The returned function removes the script. */
  script(script: Script): () => void {
    this.#scripts.push(script);
    return () => {
      this.#scripts.splice(this.#scripts.indexOf(script), 1);
    };
  }

  /** Injects `fault` into the next `times` requests of one command. */
  next(command: CommandName, fault: Fault, times = 1): void {
    let left = times;
    this.script((call) => {
      if (call.command !== command || left === 0) return undefined;
      left -= 1;
      return fault;
    });
  }

  scriptPd(script: (member: number, method: string) => TransportError | undefined): void {
    this.#pdScripts.push(script);
  }

  sent(command: CommandName): readonly FakeCall[] {
    return this.calls.filter((call) => call.command === command);
  }

  /** Ends every stream to an address, like a broken connection. */
  breakStreams(address: string): void {
    for (const stream of [...(this.#streams.get(address) ?? [])])
      stream.end(unavailable('connection reset', { lost: true }));
  }

  /** Kills a server: its streams break, and it refuses connections until `revive`. */
  kill(address: string): void {
    this.down.add(address);
    this.breakStreams(address);
  }

  revive(address: string): void {
    this.down.delete(address);
    this.paused.delete(address);
  }

  addressOf(storeId: number): string {
    return this.pd.stores.get(storeId)!.address;
  }

  /** @internal */
  enter(stream: FakeStream): void {
    const streams = this.#streams.get(stream.address) ?? new Set();
    this.#streams.set(stream.address, streams.add(stream));
  }

  /** @internal */
  leave(stream: FakeStream): void {
    this.#streams.get(stream.address)?.delete(stream);
  }

  get openStreams(): number {
    let open = 0;
    for (const streams of this.#streams.values()) open += streams.size;
    return open;
  }

  /** @internal The store that now has this address. */
  storeAt(address: string): FakeStore | undefined {
    for (const [id, store] of this.pd.stores) if (store.address === address) return this.stores.get(id);
    return undefined;
  }

  /** @internal */
  sawPdCall(call: string): void {
    if (this.#keepsCalls) this.pdCalls.push(call);
  }

  /** @internal */
  pdUnary(address: string, method: string, request: Uint8Array): Uint8Array {
    const member = this.pd.members.indexOf(address);
    if (member < 0) throw unavailable(`nobody listens at ${address}`, { lost: true });
    this.sawPdCall(`${member}/${method}`);
    for (const script of this.#pdScripts) {
      const error = script(member, method);
      if (error !== undefined) throw error;
    }
    try {
      return this.pd.unary(member, method, request);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal ??= error;
      throw new TransportError(GrpcCode.INVALID_ARGUMENT, error.message);
    }
  }

  /** @internal Encodes an answer, and records the timestamps and regions that the client learns from it. */
  answer(command: CommandName, response: object): Uint8Array {
    const codec = storeCommands[command].response as Codec<object, object>;
    const bytes = encode(codec, response);
    this.#strict.storeAnswer(command, decode(codec, bytes));
    return bytes;
  }

  /** @internal Runs a check of a request to a store. If the check throws Refusal, the store stops, as TiKV does. */
  orStop<Result>(storeId: number, look: () => Result): Result {
    try {
      return look();
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.refusal ??= error;
      this.kill(this.addressOf(storeId));
      throw unavailable(`the store has stopped: ${error.message}`);
    }
  }

  /** @internal Records and checks a request, and returns its fault, if a script has one. */
  judge(call: FakeCall): Fault | undefined {
    if (this.#keepsCalls) this.calls.push(call);
    this.orStop(call.storeId, () => this.#strict.storeRequest(call.command, call.request as Pick<FakeCall, 'context'>));
    for (const script of this.#scripts) {
      const fault = script(call);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }
}
