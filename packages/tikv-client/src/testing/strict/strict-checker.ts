import { keyText } from '@engram/core';
import { composeTimestamp, type Timestamp } from '@engram/tso';
import type { Error as RegionError } from '../../proto/gen/errorpb.ts';
import type * as kv from '../../proto/gen/kvrpcpb.ts';
import type * as pd from '../../proto/gen/pdpb.ts';
import { checkContext, checkFields } from './context-rules.ts';
import { AllocatedTimestamps } from './allocated-timestamps.ts';
import { KnownRegions } from './known-regions.ts';
import { pdRules } from './pd-rules.ts';
import { need } from './refusal.ts';
import { requestRules } from './request-rules.ts';
import { storeAnswers, tellRegionError, type Told } from './store-answers.ts';

/** Maximal number of transactions whose primaries are remembered. */
const TRANSACTIONS_MAX = 100_000;

export interface StrictOptions {
  /** Whether all clients are this project's own. Then fields that only some servers know are refused. True if absent. */
  readonly ownClient?: boolean;
}

/** A table by the names of methods or commands. A name without an entry passes unchecked. */
type Table<Rest extends readonly unknown[]> = Readonly<
  Record<string, ((message: never, ...rest: Rest) => void) | undefined>
>;
const pdTable: Table<[AllocatedTimestamps]> = pdRules;
const requestTable: Table<[Parameters<typeof requestRules.Get>[1]]> = requestRules;
const answerTable: Table<[Told]> = storeAnswers;

/**
 * Sees every message between clients and a cluster, and refuses the requests that the strictest server would refuse. Used in
 * the scripted cluster and in a proxy in front of real servers. It checks requests against the timestamps, regions and locks
 * in earlier answers, so all clients of the cluster must use it. It takes decoded messages. The methods for requests throw
 * Refusal.
 */
export class StrictChecker {
  readonly timestamps = new AllocatedTimestamps();
  readonly regions = new KnownRegions();
  /** The primary of each prewritten transaction, to detect a start timestamp that two transactions use. */
  readonly #primaries = new Map<Timestamp, string>();
  readonly #ownClient: boolean;
  readonly #told: Told = {
    timestamp: (timestamp) => this.timestamps.tell(timestamp),
    region: (region) => this.regions.learn(region),
  };

  constructor({ ownClient = true }: StrictOptions = {}) {
    this.#ownClient = ownClient;
  }

  pdRequest(method: string, request: unknown): void {
    pdTable[method]?.(request as never, this.timestamps);
  }

  pdAnswer(method: string, answer: unknown): void {
    switch (method) {
      case 'Tso': {
        const { count, timestamp } = answer as pd.TsoResponse;
        if (timestamp === undefined || count === 0) return;
        const last = composeTimestamp(timestamp.physical, timestamp.logical);
        this.timestamps.allocate(last - BigInt(count - 1), last);
        return;
      }
      case 'GetRegion':
      case 'GetPrevRegion':
      case 'GetRegionByID':
        this.regions.learn((answer as pd.GetRegionResponse).region);
        return;
      case 'ScanRegions':
      case 'BatchScanRegions':
        for (const { region } of (answer as pd.ScanRegionsResponse).regions) this.regions.learn(region);
    }
  }

  storeRequest(command: string, request: { readonly context: kv.Context | undefined }): void {
    const rule = requestTable[command];
    if (rule === undefined) return;
    const { context } = request;
    checkContext(command, context, this.timestamps);
    if (this.#ownClient) checkFields(command, request);
    const { regionId, regionEpoch } = context;
    const version = regionEpoch?.version ?? 0;
    const region = this.regions.boundsOf(regionId, version);
    need(region !== undefined, `${command}: nobody has told of region ${regionId} in version ${version}`);
    rule(request as never, { timestamps: this.timestamps, region });
    if (command === 'Prewrite') this.#needOneName(request as kv.PrewriteRequest);
  }

  storeAnswer(command: string, answer: { readonly regionError?: RegionError | undefined }): void {
    tellRegionError(answer.regionError, this.#told);
    answerTable[command]?.(answer as never, this.#told);
  }

  #needOneName({ startVersion, primaryLock }: kv.PrewriteRequest): void {
    const primary = keyText(primaryLock);
    const before = this.#primaries.get(startVersion);
    need(before === undefined || before === primary, `Prewrite.start_version ${startVersion} names two transactions`);
    if (before !== undefined) return;
    if (this.#primaries.size >= TRANSACTIONS_MAX) this.#primaries.delete(this.#primaries.keys().next().value!);
    this.#primaries.set(startVersion, primary);
  }
}
