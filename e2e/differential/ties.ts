import type { Answer } from './judge.ts';
import type { Decoded, DecodedMessage, Fields, Value } from './messages.ts';

/** The sort field of each target. Decoded messages omit zeros. */
const sortField = ['key', 'version', 'createRevision', 'modRevision', 'value'] as const;

/**
 * etcd's sort is not stable (server/etcdserver/txn/range.go: sort.Sort), so keys with equal targets have no order. They
 * are sorted by key here. If a limit cuts through them, any of them may be in the answer. If keys_only has removed the
 * values, it is unknown which are equal, and the whole answer has no order.
 */
export function orderTies(request: Fields, answer: Answer): Answer {
  return { ...answer, messages: answer.messages.map((message) => orderMessage(request, message)) };
}

function orderMessage(request: Fields, message: DecodedMessage): DecodedMessage {
  if ('success' in request || 'failure' in request || 'compare' in request) return orderTxn(request, message);
  const { rangeResponse } = message;
  if (isMessage(rangeResponse)) return { rangeResponse: orderRange(request, rangeResponse) };
  return 'kvs' in message ? orderRange(request, message) : message;
}

function orderTxn(request: Fields, message: DecodedMessage): DecodedMessage {
  const ops = listOfFields(request[message['succeeded'] === true ? 'success' : 'failure']);
  const responses = message['responses'];
  if (!Array.isArray(responses)) return message;
  const ordered = responses.map((response, at): Decoded => {
    if (typeof response !== 'object' || Array.isArray(response)) return response;
    const op = ops[at] ?? {};
    const { responseRange, responseTxn } = response;
    if (isMessage(responseRange)) return { responseRange: orderRange(fields(op['requestRange']), responseRange) };
    if (isMessage(responseTxn)) return { responseTxn: orderTxn(fields(op['requestTxn']), responseTxn) };
    return response;
  });
  return { ...message, responses: ordered };
}

function orderRange(request: Fields, all: DecodedMessage): DecodedMessage {
  const target = sortField[Number(request['sortTarget'] ?? 0)];
  const message = request['keysOnly'] === true && target !== 'value' ? withoutLeases(all) : all;
  const kvs = message['kvs'];
  if (target === undefined || target === 'key' || !Array.isArray(kvs)) return message;
  const unseen = target === 'value' && request['keysOnly'] === true;
  const groups: { tie: Decoded | undefined; kvs: DecodedMessage[] }[] = [];
  for (const kv of kvs.filter(isMessage)) {
    const tie = unseen ? undefined : kv[target];
    const last = groups.at(-1);
    if (last !== undefined && last.tie === tie) last.kvs.push(kv);
    else groups.push({ tie, kvs: [kv] });
  }
  for (const group of groups) {
    group.kvs.sort((left, right) => (String(left['key']) < String(right['key']) ? -1 : 1));
  }
  const last = groups.at(-1);
  if (message['more'] === true && last !== undefined) last.kvs = last.kvs.map(() => ({ tie: last.tie ?? '' }));
  return { ...message, kvs: groups.flatMap((group) => group.kvs) };
}

/** etcd 3.7 loses leases if it does not read the values (etcd-io/etcd#22209). etcd 3.6 returned them, as the store does. */
function withoutLeases(message: DecodedMessage): DecodedMessage {
  const kvs = message['kvs'];
  if (!Array.isArray(kvs)) return message;
  return { ...message, kvs: kvs.filter(isMessage).map(({ lease: _lease, ...kv }) => kv) };
}

const isMessage = (value: Decoded | undefined): value is DecodedMessage =>
  typeof value === 'object' && !Array.isArray(value);

function fields(value: Value | undefined): Fields {
  return typeof value === 'object' && !Array.isArray(value) ? (value as Fields) : {};
}

function listOfFields(value: Value | undefined): readonly Fields[] {
  return Array.isArray(value) ? value : [];
}
