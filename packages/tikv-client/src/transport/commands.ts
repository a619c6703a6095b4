import type { Codec } from '@engram/protobuf';
import * as kv from '../proto/gen/kvrpcpb.ts';
import type { ContextInit } from '../proto/gen/kvrpcpb.ts';
import type { Error as RegionError } from '../proto/gen/errorpb.ts';

/** One call of tikvpb.Tikv. `field` is its number in BatchCommandsRequest and -Response, undefined if it is unary only. */
export interface TikvCommand<
  Request extends { readonly context?: ContextInit | undefined },
  Response extends { readonly regionError: RegionError | undefined },
> {
  readonly name: string;
  readonly method: string;
  readonly field: number | undefined;
  readonly request: Codec<unknown, Request>;
  readonly response: Codec<Response, unknown>;
  /** The command writes through Raft, so it may have taken effect even if its answer is lost. */
  readonly write: boolean;
}

const command = <
  Request extends { readonly context?: ContextInit | undefined },
  Response extends { readonly regionError: RegionError | undefined },
>(
  name: string,
  field: number | undefined,
  request: Codec<unknown, Request>,
  response: Codec<Response, unknown>,
  write = false,
  prefix = field === undefined ? '' : 'Kv',
): TikvCommand<Request, Response> => ({
  name,
  method: `/tikvpb.Tikv/${prefix}${name}`,
  field,
  request,
  response,
  write,
});

// Requests are only written and responses only read, so the other half of each codec is not used.
const widen = <Message, Init>(codec: Codec<Message, Init>): Codec<unknown, Init> => codec as Codec<unknown, Init>;
const narrow = <Message, Init>(codec: Codec<Message, Init>): Codec<Message, unknown> =>
  codec as Codec<Message, unknown>;

export const commands = {
  get: command('Get', 1, widen(kv.GetRequestCodec), narrow(kv.GetResponseCodec)),
  scan: command('Scan', 2, widen(kv.ScanRequestCodec), narrow(kv.ScanResponseCodec)),
  prewrite: command('Prewrite', 3, widen(kv.PrewriteRequestCodec), narrow(kv.PrewriteResponseCodec), true),
  commit: command('Commit', 4, widen(kv.CommitRequestCodec), narrow(kv.CommitResponseCodec), true),
  batchGet: command('BatchGet', 7, widen(kv.BatchGetRequestCodec), narrow(kv.BatchGetResponseCodec)),
  batchRollback: command(
    'BatchRollback',
    8,
    widen(kv.BatchRollbackRequestCodec),
    narrow(kv.BatchRollbackResponseCodec),
    true,
  ),
  scanLock: command('ScanLock', 9, widen(kv.ScanLockRequestCodec), narrow(kv.ScanLockResponseCodec)),
  resolveLock: command('ResolveLock', 10, widen(kv.ResolveLockRequestCodec), narrow(kv.ResolveLockResponseCodec), true),
  deleteRange: command('DeleteRange', 12, widen(kv.DeleteRangeRequestCodec), narrow(kv.DeleteRangeResponseCodec), true),
  checkTxnStatus: command(
    'CheckTxnStatus',
    25,
    widen(kv.CheckTxnStatusRequestCodec),
    narrow(kv.CheckTxnStatusResponseCodec),
    true,
  ),
  heartBeat: command(
    'TxnHeartBeat',
    26,
    widen(kv.TxnHeartBeatRequestCodec),
    narrow(kv.TxnHeartBeatResponseCodec),
    true,
  ),
  // Unary, not in a batch: the command is rare, and old servers of the protocol crash on a batch that holds one.
  checkSecondaryLocks: command(
    'CheckSecondaryLocks',
    undefined,
    widen(kv.CheckSecondaryLocksRequestCodec),
    narrow(kv.CheckSecondaryLocksResponseCodec),
    true,
    'Kv',
  ),
  splitRegion: command(
    'SplitRegion',
    undefined,
    widen(kv.SplitRegionRequestCodec),
    narrow(kv.SplitRegionResponseCodec),
    true,
  ),
  unsafeDestroyRange: command(
    'UnsafeDestroyRange',
    undefined,
    widen(kv.UnsafeDestroyRangeRequestCodec),
    narrow(kv.UnsafeDestroyRangeResponseCodec),
    true,
  ),
  mvccGetByKey: command(
    'MvccGetByKey',
    undefined,
    widen(kv.MvccGetByKeyRequestCodec),
    narrow(kv.MvccGetByKeyResponseCodec),
  ),
} as const;
