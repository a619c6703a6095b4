import { assert, EngramError, type Op, type RangeOp, type Txn, whenLate, whenThere } from '@engram/core';
import { isReadOnly, type OpResult, type PagedRangeResult, type TxnResult } from '@engram/backend';
import {
  CutTxn,
  decodeDeleteRange,
  decodePut,
  decodeRange,
  decodeTxnWithin,
  encodeAnswer,
  etcdserverpb,
  type Message,
  type Method,
} from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { checkDuplicateKeys } from './duplicate-keys.ts';
import { MessagePump } from './message-pump.ts';
import { checkStreamable, rangeChunks } from './range-stream.ts';
import { checkRequestSize } from './request-size.ts';
import { rangeAttributes, rangeStreamAttributes, txnAttributes } from './operation-span.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';
import { raiseIfOverQuota } from './space-check.ts';
import { checkDecodedTxn, checkPut, checkRange } from './txn-check.ts';

const SERVICE = '/etcdserverpb.KV';

export function kvMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new KvService(parts);
  return [
    [
      `${SERVICE}/Range`,
      admission.unary((request, call) => service.range(request, new RpcCaller(call)), isSerializable),
    ],
    [`${SERVICE}/Put`, admission.unary((request, call) => service.put(request, new RpcCaller(call)))],
    [`${SERVICE}/DeleteRange`, admission.unary((request, call) => service.deleteRange(request, new RpcCaller(call)))],
    [`${SERVICE}/Txn`, admission.unary((request, call) => service.txn(request, new RpcCaller(call)))],
    [`${SERVICE}/Compact`, admission.unary((request, call) => service.compact(request, new RpcCaller(call)))],
    [
      `${SERVICE}/RangeStream`,
      admission.serverStream((request, call) => {
        const op = decodeRange(request.slice());
        const caller = new RpcCaller(call);
        if (caller.isRecorded) caller.does('range_streaming', rangeStreamAttributes(op));
        checkRange(op);
        checkStreamable(op);
        // The signal is the pump's: it aborts with the client's, and also when the client reads nothing.
        return new MessagePump(call, parts, (signal) => rangeChunks(parts, op, new RpcCaller(call, signal)));
      }),
    ],
  ];
}

const answerOf = (result: OpResult | PagedRangeResult, parts: ServiceParts): Message =>
  encodeAnswer(parts.headerBytes(result.revision), result);

const isSerializable = (request: Uint8Array): boolean => decodeRange(request.slice()).serializable;

class KvService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  range(request: Uint8Array, caller: RpcCaller): Message | Promise<Message> {
    const op = decodeRange(request);
    if (caller.isRecorded) caller.does('range', rangeAttributes(op));
    checkRange(op);
    const result = this.#parts.store.range(op, caller, 'pages');
    return whenThere(this.#countedIfLate(result, op, caller), answerOf, this.#parts);
  }

  /**
   * An answer that does not come at once is long, is read from the disk, or waits for the leader. What it will hold counts from
   * this call on: the next calls of the client would begin before it holds it.
   */
  #countedIfLate<Result>(result: Result | Promise<Result>, op: RangeOp, caller: RpcCaller): Result | Promise<Result> {
    return whenLate(result, (late) => {
      const holdsBytes = this.#parts.options.store.applied.holdsBytes(op);
      if (holdsBytes > 0) caller.holdAnswer(holdsBytes);
      return late;
    });
  }

  put(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const op = decodePut(request);
    if (caller.isRecorded) caller.does('put', { key: op.key });
    try {
      checkPut(op);
      checkRequestSize(request, this.#parts.limits.maxRequestBytes);
    } catch (error) {
      return this.#refuse(error, single(op));
    }
    return this.#write(op, caller);
  }

  deleteRange(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const op = decodeDeleteRange(request);
    if (caller.isRecorded) caller.does('delete_range', { range_begin: op.range.key, range_end: op.range.end });
    if (op.range.key.length === 0) throw new EngramError('EmptyKey');
    checkRequestSize(request, this.#parts.limits.maxRequestBytes);
    return this.#write(op, caller);
  }

  txn(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const { limits, store } = this.#parts;
    const decoded = decodeTxnWithin(request, limits.maxTxnOps);
    if (caller.isRecorded) caller.does('txn', txnAttributes(decoded instanceof CutTxn ? decoded.beginning : decoded));
    try {
      checkDecodedTxn(decoded, limits.maxTxnOps);
      checkDuplicateKeys(decoded);
      if (!isReadOnly(decoded)) checkRequestSize(request, limits.maxRequestBytes);
    } catch (error) {
      return this.#refuse(error, decoded instanceof CutTxn ? decoded.beginning : decoded);
    }
    return store.txn(decoded, caller).then(this.#answer);
  }

  async compact(request: Uint8Array, caller: RpcCaller): Promise<Message> {
    const { revision, physical } = etcdserverpb.decodeCompactionRequest(request);
    if (caller.isRecorded) caller.does('compact', { is_physical: physical, rev: revision });
    const { store } = this.#parts;
    await store.compact(revision, physical, caller);
    return etcdserverpb.encodeCompactionResponse({ header: this.#parts.header() });
  }

  /** A write that the store has taken cannot be cancelled: a client that cancels does not learn whether it happened. */
  #write(op: Op, caller: RpcCaller): Promise<Message> {
    return this.#parts.store.txn(single(op), caller).then(this.#answerFirst);
  }

  // Fields, not methods: made once. A method would need a closure and an async function, two more objects for each call.
  readonly #answer = (result: OpResult): Message => answerOf(result, this.#parts);

  readonly #answerFirst = ({ responses }: TxnResult): Message => {
    const [result] = responses;
    assert(result !== undefined, 'a write without a result');
    return this.#answer(result);
  };

  /** Throws NoSpace if the quota is exceeded, otherwise `error`, which the request alone causes. */
  async #refuse(error: unknown, txn: Txn): Promise<never> {
    // With users, only what they are permitted to write raises the alarm: the store decides that.
    if (!(error instanceof EngramError) || this.#parts.auth.enabled) throw error;
    throw (await raiseIfOverQuota(this.#parts, txn)) ? new EngramError('NoSpace') : error;
  }
}

const single = (op: Op): Txn => ({ compares: [], success: [op], failure: [] });
