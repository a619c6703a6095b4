import { utf8 } from '@engram/core';
import { v3electionpb, v3lockpb } from '@engram/wire';
import type { Shape } from './auth-client.ts';
import {
  denied,
  kinds,
  LEASE_OF_Z,
  type MatrixOptions,
  type MatrixReport,
  mayDo,
  type Need,
  statusOfCall,
  textOfStatus,
} from './auth-matrix.ts';

/*
 * The matrix of authorization of the services Lock and Election: every call, by every kind of caller. The callers are those of
 * auth-matrix.ts. Each step of a call is one of the client itself, and its refusal comes with its text and the code UNKNOWN, as in etcd.
 */

/** Locks and elections whose lines are in the ranges of some callers, and of root alone. */
const NAMES = ['k', 'z'];
/** The first of the leases that take a place in a line. */
const LEASES_FROM = 3000n;

const LOCK = '/v3lockpb.Lock';
const ELECTION = '/v3electionpb.Election';

/** Every call of the services. */
export const lockMatrixCalls: readonly string[] = [
  ...['Lock', 'Unlock'].map((name) => `${LOCK}/${name}`),
  ...['Campaign', 'Proclaim', 'Leader', 'Resign', 'Observe'].map((name) => `${ELECTION}/${name}`),
];

const lineOf = (name: string): Shape => [`${name}/`, `${name}0`];
const keyOf = (name: string, lease: bigint): string => `${name}/${lease.toString(16)}`;
const unknown = (refusal: string): string => refusal.replace(/^\d+/, '2');

/** Makes root the leader of each election. */
async function lead({ clients, run }: Pick<MatrixOptions, 'clients' | 'run'>, name: string, lease: bigint) {
  const request = v3electionpb.encodeCampaignRequest({ name: utf8(name), lease, value: utf8('root') });
  const answer = v3electionpb.decodeCampaignResponse(await run(clients['root']!.call(`${ELECTION}/Campaign`, request)));
  return answer.leader!;
}

/** All but Observe. */
export async function runLockMatrix({ clients, run, state, kindOf }: MatrixOptions): Promise<MatrixReport> {
  const wrong: string[] = [];
  let calls = 0;
  let lease = LEASES_FROM;
  const root = clients['root']!;
  for (const [caller, client] of Object.entries(clients)) {
    const kind = kinds[kindOf?.(caller) ?? caller]!;
    const expectCall = async (path: string, request: Uint8Array, needs: Need): Promise<void> => {
      calls += 1;
      const before = await state();
      const found = await run(statusOfCall(client.call(path, request)));
      const permitted = mayDo(kind, needs);
      const expected = permitted ? 'ok' : unknown('refusal' in kind ? kind.refusal : denied);
      if (found !== expected)
        wrong.push(`${caller}: ${path} ${needs.write?.[0] ?? needs.read?.[0]}: ${found}, not ${expected}`);
      if (!permitted && (await state()) !== before) wrong.push(`${caller}: ${path} has changed something`);
    };
    for (const text of NAMES) {
      lease += 1n;
      await run(root.grant(lease));
      const name = utf8(text);
      const [own, ofOther] = [keyOf(text, lease), keyOf(text, LEASE_OF_Z)];
      const toTake = (key: string): Need => ({ read: lineOf(text), write: [key, ''] });
      const toChange: Need = { read: [own, ''], write: [own, ''] };

      await expectCall(`${LOCK}/Lock`, v3lockpb.encodeLockRequest({ name, lease }), toTake(own));
      await expectCall(`${LOCK}/Unlock`, v3lockpb.encodeUnlockRequest({ key: utf8(own) }), { write: [own, ''] });
      await run(root.remove({ key: utf8(own) }));
      const withLease = v3lockpb.encodeLockRequest({ name, lease: LEASE_OF_Z });
      await expectCall(`${LOCK}/Lock`, withLease, { ...toTake(ofOther), writeToo: ['z', ''] });
      await run(root.remove({ key: utf8(ofOther) }));

      const campaign = v3electionpb.encodeCampaignRequest({ name, lease, value: utf8(caller) });
      await expectCall(`${ELECTION}/Campaign`, campaign, toTake(own));
      await run(root.remove({ key: utf8(own) }));
      const leader = await lead({ clients, run }, text, lease);
      await expectCall(`${ELECTION}/Leader`, v3electionpb.encodeLeaderRequest({ name }), { read: lineOf(text) });
      const proclaim = v3electionpb.encodeProclaimRequest({ leader, value: utf8(caller) });
      await expectCall(`${ELECTION}/Proclaim`, proclaim, toChange);
      await expectCall(`${ELECTION}/Resign`, v3electionpb.encodeResignRequest({ leader }), toChange);
      await run(root.remove({ key: utf8(own) }));
    }
  }
  return { wrong, calls };
}

export interface ObserveOptions extends Pick<MatrixOptions, 'clients' | 'run' | 'kindOf'> {
  /** What the call of this client has sent, and how it has ended, after a time in which it sends what it will. */
  readonly observe: (
    client: string,
    request: Uint8Array,
  ) => Promise<{ readonly sent: number; readonly status: string }>;
}

/** Observe: who may not read the line sees nothing, and the call ends without an error, as in etcd. */
export async function runObserveMatrix({ clients, run, kindOf, observe }: ObserveOptions): Promise<MatrixReport> {
  const wrong: string[] = [];
  let calls = 0;
  for (const name of NAMES) {
    const lease = LEASES_FROM - BigInt(1 + NAMES.indexOf(name));
    await run(clients['root']!.grant(lease));
    await lead({ clients, run }, name, lease);
    for (const caller of Object.keys(clients)) {
      calls += 1;
      const { sent, status } = await observe(caller, v3electionpb.encodeLeaderRequest({ name: utf8(name) }));
      const expected = mayDo(kinds[kindOf?.(caller) ?? caller]!, { read: lineOf(name) }) ? '1 nothing' : '0 ok';
      if (`${sent} ${status}` !== expected)
        wrong.push(`${caller}: Observe of ${name}: ${sent} ${status}, not ${expected}`);
    }
  }
  return { wrong, calls };
}

/** As `ObserveOptions.observe`, of methods without a socket. */
export const observing =
  (clients: MatrixOptions['clients'], settle: () => Promise<void>): ObserveOptions['observe'] =>
  async (client, request) => {
    const call = clients[client]!.serverStream(`${ELECTION}/Observe`, request);
    await settle();
    const found = { sent: call.sent.length, status: textOfStatus(call.status) };
    call.cancel();
    return found;
  };
