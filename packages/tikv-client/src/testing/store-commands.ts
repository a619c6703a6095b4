import * as kv from '../proto/gen/kvrpcpb.ts';

/** Every command by its name, with the codecs of both directions. */
export const storeCommands = {
  Get: { field: 1, request: kv.GetRequestCodec, response: kv.GetResponseCodec },
  Scan: { field: 2, request: kv.ScanRequestCodec, response: kv.ScanResponseCodec },
  Prewrite: { field: 3, request: kv.PrewriteRequestCodec, response: kv.PrewriteResponseCodec },
  Commit: { field: 4, request: kv.CommitRequestCodec, response: kv.CommitResponseCodec },
  BatchGet: { field: 7, request: kv.BatchGetRequestCodec, response: kv.BatchGetResponseCodec },
  BatchRollback: { field: 8, request: kv.BatchRollbackRequestCodec, response: kv.BatchRollbackResponseCodec },
  ScanLock: { field: 9, request: kv.ScanLockRequestCodec, response: kv.ScanLockResponseCodec },
  ResolveLock: { field: 10, request: kv.ResolveLockRequestCodec, response: kv.ResolveLockResponseCodec },
  DeleteRange: { field: 12, request: kv.DeleteRangeRequestCodec, response: kv.DeleteRangeResponseCodec },
  CheckTxnStatus: { field: 25, request: kv.CheckTxnStatusRequestCodec, response: kv.CheckTxnStatusResponseCodec },
  TxnHeartBeat: { field: 26, request: kv.TxnHeartBeatRequestCodec, response: kv.TxnHeartBeatResponseCodec },
  CheckSecondaryLocks: {
    field: 33,
    request: kv.CheckSecondaryLocksRequestCodec,
    response: kv.CheckSecondaryLocksResponseCodec,
  },
  SplitRegion: { field: undefined, request: kv.SplitRegionRequestCodec, response: kv.SplitRegionResponseCodec },
  UnsafeDestroyRange: {
    field: undefined,
    request: kv.UnsafeDestroyRangeRequestCodec,
    response: kv.UnsafeDestroyRangeResponseCodec,
  },
  MvccGetByKey: { field: undefined, request: kv.MvccGetByKeyRequestCodec, response: kv.MvccGetByKeyResponseCodec },
} as const;

export type CommandName = keyof typeof storeCommands;

/** Unary calls of a store, by their method names. */
export const storeMethods: Readonly<Record<string, CommandName>> = Object.fromEntries(
  (Object.keys(storeCommands) as CommandName[]).map((name) => [
    storeCommands[name].field === undefined ? name : `Kv${name}`,
    name,
  ]),
);

/** The member of a oneof that is set. The name of the member is that of its command. */
export function bodyOf<Body>(member: object): { readonly command: CommandName; readonly body: Body } | undefined {
  for (const [field, body] of Object.entries(member) as [string, Body | undefined][])
    if (body !== undefined) return { command: (field[0]!.toUpperCase() + field.slice(1)) as CommandName, body };
  return undefined;
}
