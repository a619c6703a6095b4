import { type Clock, type Logger, withDeadline } from '@engram/core';
import { type BoundAddress, type Server, serve, serveGrpcJs } from '@engram/transport';
import type { PlannedListener } from './listeners.ts';
import type { NodeConfig } from '../config/node-config.ts';

/** How long running calls may take at a stop. The rest of the five seconds is for the storage. */
const DRAIN_MS = 3000;

export interface BoundListener {
  readonly purpose: 'client' | 'metrics';
  readonly address: BoundAddress;
}

/** The open listeners of a member. */
export class OpenListeners {
  readonly #start: typeof serve;
  readonly #clock: Clock;
  readonly #open: { readonly planned: PlannedListener; readonly server: Server }[] = [];
  #drained: Promise<void> | undefined;

  constructor({ transport }: NodeConfig, clock: Clock) {
    this.#start = transport === 'native' ? serve : serveGrpcJs;
    this.#clock = clock;
  }

  get bound(): readonly BoundListener[] {
    return this.#open.map(({ planned, server }) => ({ purpose: planned.purpose, address: server.address }));
  }

  /** The open connections of clients. */
  get connections(): number {
    let count = 0;
    for (const { planned, server } of this.#open) if (planned.purpose === 'client') count += server.connections;
    return count;
  }

  async open(all: readonly PlannedListener[]): Promise<void> {
    for (const planned of all) this.#open.push({ planned, server: await listen(planned, this.#start) });
  }

  announce(purpose: BoundListener['purpose'], logger: Logger): void {
    for (const { planned, server } of this.#open)
      if (planned.purpose === purpose) announce(planned, server.address, logger);
  }

  /** No listener may be opened after the first call. */
  drain(): Promise<void> {
    this.#drained ??= drainAll(
      this.#open.map(({ server }) => server),
      this.#clock,
    );
    return this.#drained;
  }
}

async function listen({ url, options }: PlannedListener, start: typeof serve): Promise<Server> {
  try {
    return await start(options);
  } catch (cause) {
    throw new Error(`cannot listen on ${url.text}`, { cause });
  }
}

function announce({ url, purpose, options }: PlannedListener, bound: BoundAddress, logger: Logger): void {
  const address = addressText(bound);
  if (purpose === 'metrics') {
    logger.info({ address }, 'serving metrics');
    return;
  }
  logger.info({ address }, 'ready to serve client requests');
  const traffic = { both: 'grpc+http', grpc: 'grpc', http: 'http' }[options.protocols];
  logger.info({ traffic, address }, `serving client traffic ${url.secure ? 'securely' : 'insecurely'}`);
}

function addressText(address: BoundAddress): string {
  if (address.kind === 'unix') return address.path;
  return address.host.includes(':') ? `[${address.host}]:${address.port}` : `${address.host}:${address.port}`;
}

async function drainAll(servers: readonly Server[], clock: Clock): Promise<void> {
  const late = (): Error => new Error(`clients were not done after ${DRAIN_MS} ms`);
  await withDeadline(clock, DRAIN_MS, late, (signal) => Promise.all(servers.map((server) => server.drain(signal))));
}
