import { type PeerAdmission, type PeerCaller, PeerError, type PeerService, type Speaker } from '@engram/member';
import { type PeerServer, type PeerServerOptions, servePeers, Traffic } from '@engram/peer';
import { quiet, realClock } from '@engram/sim';
import type { LogBatch } from '@engram/storage';
import { BoundPort } from '@engram/transport';

/** A member that echoes each call, and records messages, connections and aborted calls. */
export class Echo implements PeerService {
  readonly messages: string[] = [];
  readonly speakers: string[] = [];
  readonly admissions = new Map<bigint, PeerAdmission>();
  readonly links: string[] = [];
  readonly aborted: string[] = [];
  readonly hold = Promise.withResolvers<void>();
  batches: readonly LogBatch[] = [];
  #told: (() => void)[] = [];

  async call(request: Uint8Array, { signal }: PeerCaller): Promise<Uint8Array> {
    const text = Buffer.from(request).toString();
    signal.addEventListener('abort', () => this.#tell(this.aborted, text));
    if (text === 'hold') await this.hold.promise;
    if (text === 'fail') throw new Error('the test says so');
    return Buffer.from(`answer to ${text}`);
  }

  async *follow(from: number): AsyncGenerator<LogBatch> {
    if (from === 99) throw new PeerError('behind', 'the test says so');
    for (const batch of this.batches) if (batch.first >= from) yield batch;
  }

  admission(member: bigint): PeerAdmission {
    return this.admissions.get(member) ?? 'member';
  }

  message(bytes: Uint8Array, { member, dialed }: Speaker): string | undefined {
    const text = Buffer.from(bytes).toString();
    this.#tell(this.messages, text);
    this.speakers.push(`${member}${dialed ? ' dialed' : ''}`);
    return text === 'hostile' ? 'the test says so' : undefined;
  }
  connected(member: bigint): void {
    this.#tell(this.links, `connected ${member}`);
  }
  disconnected(member: bigint): void {
    this.#tell(this.links, `disconnected ${member}`);
  }
  gone(member: bigint): void {
    this.#tell(this.links, `gone ${member}`);
  }

  async until(done: () => boolean): Promise<void> {
    while (!done()) await new Promise<void>((resolve) => this.#told.push(resolve));
  }

  #tell(list: string[], text: string): void {
    list.push(text);
    for (const resolve of this.#told.splice(0)) resolve();
  }
}

export function portOf({ address }: BoundPort): number {
  if (address.kind !== 'tcp') throw new Error('not a port');
  return address.port;
}

type ServedOptions = Omit<PeerServerOptions, 'ports' | 'tls'>;

/** Serves a member at a plain port: member 2 unless `options` says otherwise. `port` 0: any. */
export async function servePlain(
  options: Pick<ServedOptions, 'clusterId' | 'service'> & Partial<ServedOptions>,
  port = 0,
): Promise<{ server: PeerServer; port: number }> {
  const bound = await BoundPort.bind({ kind: 'tcp', host: '127.0.0.1', port });
  const server = servePeers({
    memberId: 2n,
    storeId: 5n,
    ports: [{ port: bound, secure: false }],
    tls: undefined,
    traffic: new Traffic(),
    clock: realClock,
    queuedBytesMax: 4 << 20,
    logger: quiet,
    ...options,
  });
  return { server, port: portOf(bound) };
}
