import type { Answer, Judge } from './judge.ts';
import * as ask from './methods.ts';

const INT64_MAX = 2n ** 63n - 1n;
const NO_SPACE = 1;
const CORRUPT = 2;
/** Fields with the sizes of the store and with raft's indexes. */
export const SIZES = ['dbSize', 'dbSizeInUse', 'raftIndex', 'raftAppliedIndex', 'raftTerm'];

export async function maintenancePart(judge: Judge): Promise<void> {
  await judge.untilStorageVersion();
  await judge.call(ask.statusOf, {}, { ignore: SIZES });
  await judge.call(ask.put, { key: 'a', value: 'b' });
  for (const linearizable of [false, true])
    await judge.call(ask.memberList, { linearizable }, { settle: withoutPorts });
  await judge.call(ask.authStatus, {});
  for (const name of ['root', '']) await judge.call(ask.authenticate, { name, password: 'x' });
  await judge.call(ask.userList, {});
  await judge.call(ask.roleList, {});
  for (const revision of [-1n, 0n, 1n, 2n, 3n, INT64_MAX])
    await judge.call(ask.hashKv, { revision }, { ignore: ['hash'] });
  await judge.call(ask.hash, {}, { ignore: ['hash'] });
  await judge.call(ask.defragment, {});
  await judge.call(ask.moveLeader, { targetID: 1n });
  await judge.call(ask.moveLeader, { targetID: 0n });
  await judge.call(ask.moveLeader, { targetID: judge.memberId });
  for (const action of [0, 2, 3, -1]) {
    for (const version of ['', '3.6', '3.7', '3.6.0', '3.5', '4.0', 'x', '3', '3.6.0-rc.1', '03.6']) {
      await judge.call(ask.downgrade, { action, version });
    }
  }
  await judge.call(ask.snapshot, {}, { settle: snapshotShape });
  for (const alarm of [NO_SPACE, CORRUPT, 0]) await alarms(judge, alarm);
  await health(judge);
}

/** Compares which requests are refused under an alarm. */
async function alarms(judge: Judge, alarm: number): Promise<void> {
  for (const memberID of [123n, judge.memberId, 0n]) {
    await judge.call(ask.alarm, { action: 1, memberID, alarm });
    await judge.call(ask.alarm, { action: 1, memberID, alarm });
  }
  for (const asked of [0, NO_SPACE, CORRUPT, 9, -1])
    await judge.call(ask.alarm, { action: 0, alarm: asked }, { settle: inOrder });
  await judge.call(ask.statusOf, {}, { ignore: SIZES, settle: inOrder });
  await judge.call(ask.range, { key: 'a' });
  await judge.call(ask.put, { key: 'a', value: 'c' });
  await judge.call(ask.put, { key: '' });
  await judge.call(ask.put, { key: 'a', value: 'c', ignoreValue: true });
  await judge.call(ask.put, { key: 'a', lease: 3n });
  await judge.call(ask.txn, { success: [{ requestPut: { key: 'a' } }] });
  await judge.call(ask.txn, { failure: [{ requestPut: { key: 'a' } }] });
  await judge.call(ask.txn, { success: [{ requestRange: { key: 'a' } }] });
  await judge.call(ask.txn, { success: [{ requestDeleteRange: { key: 'none' } }] });
  await judge.call(ask.txn, { success: [{ requestTxn: { success: [{ requestPut: { key: 'a' } }] } }] });
  await judge.call(ask.txn, { success: [{ requestPut: { key: '' } }] });
  await judge.call(ask.txn, { success: [{}] });
  await judge.call(ask.txn, {});
  await judge.call(ask.deleteRange, { key: 'none' });
  await judge.call(ask.leaseGrant, { ID: 3n, TTL: 600n });
  await judge.call(ask.leaseKeepAlive, { ID: 3n });
  await judge.call(ask.leaseRevoke, { ID: 3n });
  await judge.compact({ revision: BigInt(judge.revision) });
  await judge.call(ask.alarm, { action: 2, memberID: 77n, alarm });
  for (const memberID of [123n, judge.memberId, 0n]) {
    await judge.call(ask.alarm, { action: 2, memberID, alarm });
    await judge.call(ask.alarm, { action: 2, memberID, alarm });
  }
  await judge.call(ask.alarm, {});
  await judge.call(ask.put, { key: 'a', value: `after ${alarm}` });
}

async function health(judge: Judge): Promise<void> {
  const path = 'grpc.health.v1.Health';
  for (const service of ['', 'etcdserverpb.KV', 'nothing']) {
    const [request, response] = ['grpc.health.v1.HealthCheckRequest', 'grpc.health.v1.HealthCheckResponse'];
    await judge.call({ path: `${path}/Check`, request, response }, { service });
  }
  const nowhere = ['etcdserverpb.KV/Nothing', 'nothing.Nothing/Nothing', 'etcdserverpb.KV/range', 'etcdserverpb.KV/'];
  for (const unknown of [...nowhere, 'a', '']) {
    await judge.callBytes(
      { path: unknown, response: '' },
      [new Uint8Array(), new Uint8Array()],
      `/${unknown}`,
      undefined,
    );
  }
}

type Settle = (answers: readonly [Answer, Answer]) => readonly [Answer, Answer];
const each =
  (change: (answer: Answer) => Answer): Settle =>
  ([etcd, store]) => [change(etcd), change(store)];

const PORT = /:\d+/g;

const withoutPorts: Settle = each((answer) =>
  JSON.parse(
    JSON.stringify(answer, (_name, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)).replaceAll(
      PORT,
      ':0',
    ),
  ),
);

/** Sorts alarms, which have no order. */
const inOrder: Settle = each((answer) => ({
  ...answer,
  messages: answer.messages.map((message) => {
    const sorted = Object.entries(message).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.map(textOf).toSorted() : value,
    ]);
    return Object.fromEntries(sorted);
  }),
}));

/** protobuf-go randomly writes one or two spaces between the fields of a text, so that programs do not compare it. */
const textOf = (value: unknown): string =>
  (typeof value === 'string'
    ? value
    : JSON.stringify(value, (_name, one: unknown) => (typeof one === 'bigint' ? `${one}` : one))
  )
    .replaceAll('\u00a0', ' ')
    .replace(/ +/g, ' ')
    .replace(/memberID:\d{5,}/, 'memberID:the member');

/** Compares the countdown and the end of a snapshot. The content differs between the stores. */
const snapshotShape: Settle = each((answer) => {
  const last = answer.messages.at(-1);
  const versions = new Set(answer.messages.map(({ version }) => String(version)));
  const bytes = answer.messages.reduce((sum, { blob }) => sum + String(blob ?? '').length, 0);
  const shape = { versions: [...versions], tail: String(last?.['blob'] ?? '').length, rest: bytes % 512 };
  return { ...answer, messages: [{ ...shape, tail: BigInt(shape.tail), rest: BigInt(shape.rest) }] };
});
