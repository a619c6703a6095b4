import { assert, EngramError, isPoint, type Op, type Txn } from '@engram/core';
import type { OpResult, TxnResult } from '@engram/backend';
import {
  decodeDeleteRange,
  decodePut,
  decodeRange,
  decodeTxn,
  encodeAnswer,
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
    return result instanceof Promise ? result.then(this.#answer) : this.#answer(result);
  }

  put(request: Uint8Array): Promise<Message> {
    const op = decodePut(request);
    try {
      checkPut(op);
      checkRequestSize(request, this.#parts.limits.maxRequestBytes);
    } catch (error) {
      return this.#refuse(error, single(op));
    }
    return this.#write(op);
  }

  deleteRange(request: Uint8Array): Promise<Message> {
    const op = decodeDeleteRange(request);
    if (op.range.key.length === 0) throw new EngramError('EmptyKey');
    checkRequestSize(request, this.#parts.limits.maxRequestBytes);
    return this.#write(op);
  }

  txn(request: Uint8Array): Promise<Message> {
    const { limits, store } = this.#parts;
    const txn = decodeTxn(request, limits.maxTxnOps);
    try {
      checkTxn(txn, limits.maxTxnOps);
      if (!isReadOnly(txn)) checkRequestSize(request, limits.maxRequestBytes);
      checkDuplicateKeys(txn);
    } catch (error) {
      return this.#refuse(error, txn);
    }
    return store.txn(txn, undefined).then(this.#answer);
  }

  async compact(request: Uint8Array): Promise<Message> {
    const { revision, physical } = etcdserverpb.decodeCompactionRequest(request);
    const { store } = this.#parts;
    await store.compact(revision, physical);
    return etcdserverpb.encodeCompactionResponse({ header: this.#parts.header() });
  }

  /** A write that was handed over is not called back: whoever cancels does not learn whether it happened. */
  #write(op: Op): Promise<Message> {
    return this.#parts.store.txn(single(op), undefined).then(this.#answerFirst);
  }

  // Not methods: made once, where a call would make a closure and an async function two objects more.
  readonly #answer = (result: OpResult): Message => encodeAnswer(this.#parts.headerBytes(result.revision), result);

  readonly #answerFirst = ({ responses }: TxnResult): Message => {
    const [result] = responses;
    assert(result !== undefined, 'a write without a result');
    return this.#answer(result);
  };

  /** Ends with what is wrong with the request by itself, unless the space is used up. */
  async #refuse(error: unknown, txn: Txn): Promise<never> {
    if (!(error instanceof EngramError)) throw error;
    throw (await raiseIfOverQuota(this.#parts, txn)) ? new EngramError('NoSpace') : error;
  }
}

const single = (op: Op): Txn => ({ compares: [], success: [op], failure: [] });

/** Nothing but ranges, none of them nested: etcd answers it without proposing it (server/etcdserver/txn: IsTxnReadonly). */
function isReadOnly(txn: Txn): boolean {
  const reads = (op: Op): boolean => op.kind === 'range';
  return txn.success.every(reads) && txn.failure.every(reads);
}
