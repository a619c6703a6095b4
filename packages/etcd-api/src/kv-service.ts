import { assert, EngramError, isPoint, type Op, type Txn } from '@engram/core';
import type { OpResult, RangeResult } from '@engram/backend';
import {
  decodeDeleteRange,
  decodePut,
  decodeRange,
  decodeTxn,
  encodeAnswer,
  encodeRangeSlices,
  etcdserverpb,
  type CallContext,
  type Message,
  type Method,
} from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { checkDuplicateKeys } from './duplicate-keys.ts';
import { MessagePump } from './message-pump.ts';
import { checkStreamable, rangeChunks } from './range-stream.ts';
import { checkRequestSize } from './request-size.ts';
import type { ServiceParts } from './service-parts.ts';
import { raiseIfOverQuota } from './space-check.ts';
import { checkPut, checkRange, checkTxn } from './txn-check.ts';

const SERVICE = '/etcdserverpb.KV';
/** Ranges of more keys are encoded in slices of this size: about half a millisecond of copying. */
const SLICED_KEYS_MIN = 2_000;
const SLICE_BYTES = 256 << 10;

export function kvMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new KvService(parts);
  return [
    [`${SERVICE}/Range`, admission.unary((request, call) => service.range(request, call))],
    [`${SERVICE}/Put`, admission.unary((request) => service.put(request))],
    [`${SERVICE}/DeleteRange`, admission.unary((request) => service.deleteRange(request))],
    [`${SERVICE}/Txn`, admission.unary((request) => service.txn(request))],
    [`${SERVICE}/Compact`, admission.unary((request) => service.compact(request))],
    [
      `${SERVICE}/RangeStream`,
      admission.serverStream((request, call) => {
        const op = decodeRange(request.slice());
        checkRange(op);
        checkStreamable(op);
        return new MessagePump(call, parts, (signal) => rangeChunks(parts, op, signal));
      }),
    ],
  ];
}

class KvService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  range(request: Uint8Array, call: CallContext): Message | Promise<Message> {
    const op = decodeRange(request);
    checkRange(op);
    // A read of one key is over before its client could give up; making a signal costs more than that.
    const result = this.#parts.store.range(op, isPoint(op.range) ? undefined : call.signal);
    return result instanceof Promise
      ? result.then((range) => this.#answerRange(range, call))
      : this.#answerRange(result, call);
  }

  #answerRange(result: RangeResult, call: CallContext): Message | Promise<Message> {
    // No key is so large that this few are worth slices: beyond PIECE_MIN their bytes are not copied.
    return result.kvs.length <= SLICED_KEYS_MIN ? this.#answer(result) : this.#answerInSlices(result, call.signal);
  }

  /** A list of everything is tens of megabytes: who waits behind it waits for a slice. */
  async #answerInSlices(result: RangeResult, signal: AbortSignal): Promise<Message> {
    const { clock } = this.#parts.options;
    const message: Uint8Array[] = [];
    for (const slice of encodeRangeSlices(this.#parts.headerBytes(result.revision), result, SLICE_BYTES)) {
      for (const piece of slice) message.push(piece);
      await new Promise<void>((resolve) => clock.soon(resolve));
      signal.throwIfAborted();
    }
    return message;
  }

  put(request: Uint8Array): Promise<Message> {
    const op = decodePut(request);
    const refusal = this.#refusal(request, () => checkPut(op));
    return refusal === undefined ? this.#write(op) : this.#refuse(refusal, single(op));
  }

  deleteRange(request: Uint8Array): Promise<Message> {
    const op = decodeDeleteRange(request);
    if (op.range.key.length === 0) throw new EngramError('EmptyKey');
    checkRequestSize(request, this.#parts.limits.maxRequestBytes);
    return this.#write(op);
  }

  async txn(request: Uint8Array): Promise<Message> {
    const txn = decodeTxn(request);
    const { limits, store } = this.#parts;
    const refusal = this.#refusal(isReadOnly(txn) ? undefined : request, () => {
      checkTxn(txn, limits.maxTxnOps);
      checkDuplicateKeys(txn);
    });
    if (refusal !== undefined) return this.#refuse(refusal, txn);
    return this.#answer(await store.txn(txn, undefined));
  }

  async compact(request: Uint8Array): Promise<Message> {
    const { revision, physical } = etcdserverpb.decodeCompactionRequest(request);
    const { store } = this.#parts;
    await store.compact(revision, physical);
    return etcdserverpb.encodeCompactionResponse({ header: this.#parts.header() });
  }

  /** A write that was handed over is not called back: whoever cancels does not learn whether it happened. */
  async #write(op: Op): Promise<Message> {
    const { responses } = await this.#parts.store.txn(single(op), undefined);
    const [result] = responses;
    assert(result !== undefined, 'a write without a result');
    return this.#answer(result);
  }

  #answer(result: OpResult): Message {
    return encodeAnswer(this.#parts.headerBytes(result.revision), result);
  }

  /** What is wrong with a request by itself; `request` is undefined where its size does not matter. */
  #refusal(request: Uint8Array | undefined, check: () => void): EngramError | undefined {
    try {
      check();
      if (request !== undefined) checkRequestSize(request, this.#parts.limits.maxRequestBytes);
      return undefined;
    } catch (error) {
      if (error instanceof EngramError) return error;
      throw error;
    }
  }

  async #refuse(refusal: EngramError, txn: Txn): Promise<never> {
    throw (await raiseIfOverQuota(this.#parts, txn)) ? new EngramError('NoSpace') : refusal;
  }
}

const single = (op: Op): Txn => ({ compares: [], success: [op], failure: [] });

/** Nothing but ranges, none of them nested: etcd answers it without proposing it (server/etcdserver/txn: IsTxnReadonly). */
function isReadOnly(txn: Txn): boolean {
  const reads = (op: Op): boolean => op.kind === 'range';
  return txn.success.every(reads) && txn.failure.every(reads);
}
