import { type Codec, decode } from '@engram/protobuf';
import * as pd from '../../proto/gen/pdpb.ts';
import { BatchCommandsRequestCodec, BatchCommandsResponseCodec } from '../../proto/gen/tikvpb.ts';
import type { FakeCall } from '../fake-store.ts';
import { bodyOf, storeCommands, storeMethods } from '../store-commands.ts';
import { BatchRules } from './batch-rules.ts';
import { StrictChecker, type StrictOptions } from './strict-checker.ts';

interface Codecs {
  readonly request: Codec<unknown, never>;
  readonly response: Codec<unknown, never>;
}
const codecs = <Request, Response>(request: Codec<Request, never>, response: Codec<Response, never>): Codecs => ({
  request,
  response,
});

/** Every unary call of PD that this client makes. */
export const pdMethods: Readonly<Record<string, Codecs>> = {
  GetMembers: codecs(pd.GetMembersRequestCodec, pd.GetMembersResponseCodec),
  GetRegion: codecs(pd.GetRegionRequestCodec, pd.GetRegionResponseCodec),
  GetPrevRegion: codecs(pd.GetRegionRequestCodec, pd.GetRegionResponseCodec),
  GetRegionByID: codecs(pd.GetRegionByIDRequestCodec, pd.GetRegionResponseCodec),
  ScanRegions: codecs(pd.ScanRegionsRequestCodec, pd.ScanRegionsResponseCodec),
  BatchScanRegions: codecs(pd.BatchScanRegionsRequestCodec, pd.BatchScanRegionsResponseCodec),
  GetStore: codecs(pd.GetStoreRequestCodec, pd.GetStoreResponseCodec),
  GetAllStores: codecs(pd.GetAllStoresRequestCodec, pd.GetAllStoresResponseCodec),
  ScatterRegion: codecs(pd.ScatterRegionRequestCodec, pd.ScatterRegionResponseCodec),
  GetOperator: codecs(pd.GetOperatorRequestCodec, pd.GetOperatorResponseCodec),
  GetGCSafePoint: codecs(pd.GetGCSafePointRequestCodec, pd.GetGCSafePointResponseCodec),
  UpdateGCSafePoint: codecs(pd.UpdateGCSafePointRequestCodec, pd.UpdateGCSafePointResponseCodec),
  UpdateServiceGCSafePoint: codecs(pd.UpdateServiceGCSafePointRequestCodec, pd.UpdateServiceGCSafePointResponseCodec),
  GetGCState: codecs(pd.GetGCStateRequestCodec, pd.GetGCStateResponseCodec),
  AdvanceTxnSafePoint: codecs(pd.AdvanceTxnSafePointRequestCodec, pd.AdvanceTxnSafePointResponseCodec),
  AdvanceGCSafePoint: codecs(pd.AdvanceGCSafePointRequestCodec, pd.AdvanceGCSafePointResponseCodec),
  SetGCBarrier: codecs(pd.SetGCBarrierRequestCodec, pd.SetGCBarrierResponseCodec),
  DeleteGCBarrier: codecs(pd.DeleteGCBarrierRequestCodec, pd.DeleteGCBarrierResponseCodec),
};

/** One stream between a client and a server, both directions. */
export interface StrictStream {
  /** Throws Refusal. */
  request(bytes: Uint8Array): void;
  answer(bytes: Uint8Array): void;
}

/** StrictChecker for encoded messages. Calls are named by their paths. Unknown calls pass unchecked. */
export class StrictWire {
  readonly #checker: StrictChecker;
  readonly #ownClient: boolean;

  constructor(options: StrictOptions = {}) {
    this.#ownClient = options.ownClient ?? true;
    this.#checker = new StrictChecker(options);
  }

  /** Throws Refusal. */
  request(path: string, bytes: Uint8Array): void {
    const [service, method] = split(path);
    if (service === 'pdpb.PD') {
      const found = pdMethods[method];
      if (found !== undefined) this.#checker.pdRequest(method, decode(found.request, bytes));
      return;
    }
    const command = service === 'tikvpb.Tikv' ? storeMethods[method] : undefined;
    if (command === undefined) return;
    this.#checker.storeRequest(
      command,
      decode<Pick<FakeCall, 'context'>, never>(storeCommands[command].request, bytes),
    );
  }

  answer(path: string, bytes: Uint8Array): void {
    const [service, method] = split(path);
    if (service === 'pdpb.PD') {
      const found = pdMethods[method];
      if (found !== undefined) this.#checker.pdAnswer(method, decode(found.response, bytes));
      return;
    }
    const command = service === 'tikvpb.Tikv' ? storeMethods[method] : undefined;
    if (command !== undefined)
      this.#checker.storeAnswer(command, decode<object, never>(storeCommands[command].response, bytes));
  }

  /** Undefined for a stream that is not checked. */
  stream(path: string): StrictStream | undefined {
    if (path === '/pdpb.PD/Tso') return this.#timestamps();
    return path === '/tikvpb.Tikv/BatchCommands' ? this.#commands() : undefined;
  }

  #timestamps(): StrictStream {
    return {
      request: (bytes) => this.#checker.pdRequest('Tso', decode(pd.TsoRequestCodec, bytes)),
      answer: (bytes) => this.#checker.pdAnswer('Tso', decode(pd.TsoResponseCodec, bytes)),
    };
  }

  #commands(): StrictStream {
    const rules = new BatchRules(this.#ownClient);
    return {
      request: (bytes) => {
        for (const { command, body } of rules.requests(decode(BatchCommandsRequestCodec, bytes)))
          this.#checker.storeRequest(command, body);
      },
      answer: (bytes) => {
        const { responses, requestIds } = decode(BatchCommandsResponseCodec, bytes);
        for (const id of requestIds) rules.answered(id);
        for (const response of responses) {
          const found = bodyOf<object>(response);
          if (found !== undefined) this.#checker.storeAnswer(found.command, found.body);
        }
      },
    };
  }
}

const split = (path: string): readonly [service: string, method: string] => {
  const [, service = '', method = ''] = path.split('/');
  return [service, method];
};
