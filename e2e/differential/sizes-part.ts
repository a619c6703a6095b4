import type { Judge } from './judge.ts';
import * as ask from './methods.ts';

const MIB = 1 << 20;
/** The default of --max-request-bytes. */
const REQUEST_MAX = 1.5 * MIB;
/** The limit of gRPC messages. */
const MESSAGE_MAX = 2 * MIB;
/** etcd adds some bytes when it wraps a request into its proposal, so the results may differ this close to the limit. */
const UNCLEAR = 64;

/** Sends requests around the limits of the store and of gRPC. */
export async function sizesPart(judge: Judge): Promise<void> {
  const ofSize = (bytes: number): string => 'v'.repeat(Math.max(0, Math.floor(bytes)));
  for (const limit of [REQUEST_MAX, MESSAGE_MAX]) {
    for (const over of [-4096, -UNCLEAR, UNCLEAR, 4096]) {
      const value = ofSize(limit + over);
      await judge.call(ask.put, { key: 'big', value });
      await judge.call(ask.put, { key: '', value });
      await judge.call(ask.put, { key: 'big', value, lease: 404n });
      await judge.call(ask.txn, { success: [{ requestPut: { key: 'big', value } }] });
      await judge.call(ask.txn, { failure: [{ requestPut: { key: 'big', value } }] });
      await judge.call(ask.txn, {
        compare: [{ key: 'a', target: 3, value }],
        success: [{ requestRange: { key: 'a' } }],
      });
      await judge.call(ask.txn, {
        compare: [{ key: 'a', target: 3, value }],
        success: [{ requestDeleteRange: { key: 'a' } }],
      });
      await judge.call(ask.range, { key: value });
      await judge.call(ask.deleteRange, { key: value });
    }
  }
  for (let part = 0; part < 4; part += 1) await judge.call(ask.put, { key: `large/${part}`, value: ofSize(1.4 * MIB) });
  await judge.call(ask.range, { key: 'large/', rangeEnd: 'large0' });
  await judge.call(ask.rangeStream, { key: 'large/', rangeEnd: 'large0' }, { settle: ask.merged });
  await judge.call(ask.deleteRange, { key: 'large/', rangeEnd: 'large0', prevKv: true });
}
