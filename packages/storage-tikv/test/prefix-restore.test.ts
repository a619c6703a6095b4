import { Loop } from '@engram/loop';
import { Prng, quiet } from '@engram/sim';
import { never, sealOf } from '@engram/storage/testing';
import {
  checkPrefixIsFree,
  LogKeys,
  openRoot,
  type PrefixRestoreOptions,
  restoreIntoPrefix,
} from '@engram/storage-tikv';
import { decodeSeal } from '../src/format/seal-record.ts';
import type { TikvClient } from '@engram/tikv-client';
import type { CommandName, Fault } from '@engram/tikv-client/testing';
import { beforeEach, describe, expect, test } from 'vitest';
import { ImageBed, imageAt } from './image-bed.ts';
import { at, first } from './sim-bed.ts';

const small = { segmentBytes: 300, partBytesMax: 200 };
/** The position behind the last record of the image. */
const FROM = 41;
const cluster = {
  clusterId: 7n,
  foundingId: 0xf00dn,
  members: [{ id: 8n, name: 'a', peerUrls: ['http://127.0.0.1:2380'] }],
};

let bed: ImageBed;
beforeEach(() => {
  bed = new ImageBed();
});

let seed = 100;
const optionsOf = (client: TikvClient, more: Partial<PrefixRestoreOptions> = {}): PrefixRestoreOptions => {
  seed += 1;
  const loop = new Loop({ clock: bed.clock });
  return {
    client,
    keys: bed.logKeys,
    discardUnfinished: false,
    cluster,
    random: new Prng(seed),
    loop,
    logger: quiet,
    signal: never,
    timeoutMs: 5_000,
    partBytesMax: 200,
    ...more,
  };
};

async function restore(more: Partial<PrefixRestoreOptions> = {}, from = FROM): Promise<void> {
  const client = await bed.client();
  await bed.run(restoreIntoPrefix(optionsOf(client, more), { from: at(from), parts: imageAt(from) }));
}

const rootOf = (client: TikvClient) =>
  bed.run(openRoot({ client, keys: bed.logKeys, found: { clusterId: 9n, members: [] }, timeoutMs: 5_000 }));

test('members that start on the prefix have the image, the membership, and a log that goes on behind it', async () => {
  await restore();
  const client = await bed.client();
  expect(await rootOf(client)).toEqual({ ...cluster, firstRevision: 1 });
  await bed.expectWhole(FROM, small);
  const leader = await bed.openSealed(first, { ...small, member: 1n });
  await bed.fill(leader, FROM, 81, first);
  await bed.expectWhole(81, small);
  expect(await bed.save(leader, 61)).toBe('published');
  await bed.run(leader.image.need(at(81), never));
  await bed.run(leader.image.trim(never));
  await bed.expectWhole(81, small);
});

test('the log begins behind the image also after many leaders that have appended nothing', async () => {
  await restore();
  for (let epoch = 1; epoch <= 20; epoch += 1) await bed.openSealed(sealOf(epoch), small);
  const leader = await bed.openSealed(sealOf(21), small);
  await bed.fill(leader, FROM, 61, sealOf(21));
  await bed.expectWhole(61, small);
});

test('a store without a record can be restored', async () => {
  await restore({}, 1);
  const leader = await bed.openSealed(first, small);
  await bed.fill(leader, 1, 21, first);
  await bed.expectWhole(21, small);
});

test('two restores of one snapshot are logs that differ', async () => {
  const chains = new Set<string>();
  for (const run of [1, 2]) {
    bed = new ImageBed();
    await restore({ random: new Prng(run) });
    const client = await bed.client();
    const seal = await bed.run(client.get(bed.logKeys.seal(1)));
    chains.add(decodeSeal(seal!)!.begin!.chain);
  }
  expect(chains.size).toBe(2);
});

test.each([
  {
    what: 'a cluster',
    key: () => bed.keys.root,
    value: '{"magic":"engram cluster","format":1,"clusterId":"5","members":[]}',
  },
  { what: 'something else', key: () => bed.keys.root, value: 'x' },
  { what: 'a part of a log', key: () => bed.keys.slot(1, 1), value: 'x' },
  { what: 'a part of an image', key: () => bed.keys.piece({ round: 1, kind: 'page', number: 0, part: 0 }), value: 'x' },
])('a prefix that holds $what is refused, and stays as it is', async ({ key, value }) => {
  const client = await bed.client();
  const txn = await bed.run(client.begin());
  txn.put(key(), Buffer.from(value));
  await bed.run(txn.commit());
  for (const discardUnfinished of [false, true]) {
    const options = optionsOf(client, { discardUnfinished });
    const refused = { name: 'StorageOpenError', reason: 'not-ours' };
    await expect(bed.run(checkPrefixIsFree(options))).rejects.toMatchObject(refused);
    await expect(restore({ discardUnfinished })).rejects.toMatchObject(refused);
  }
  const { start, end } = bed.logKeys.range;
  const left = await bed.keysOf(client, { start, end });
  expect(left.map((each) => Buffer.from(each).toString('hex'))).toEqual([Buffer.from(key()).toString('hex')]);
});

test('a cluster on a prefix beside it does not matter', async () => {
  const client = await bed.client();
  const found = { clusterId: 5n, members: [] };
  await bed.run(openRoot({ client, keys: new LogKeys('test/more'), found, timeoutMs: 5_000 }));
  await restore();
  await bed.expectWhole(FROM, small);
});

test('a restore that fails in the middle leaves what no member starts on, and says what to do', async () => {
  const whole = imageAt(FROM);
  const parts: typeof whole = async function* (base) {
    for await (const part of whole(base)) {
      yield part;
      break;
    }
    throw new Error('the disk is gone');
  };
  const client = await bed.client();
  await expect(bed.run(restoreIntoPrefix(optionsOf(client), { from: at(FROM), parts }))).rejects.toThrow(
    'disk is gone',
  );
  const unfinished = { reason: 'unfinished', message: expect.stringContaining('--discard-unfinished') };
  await expect(rootOf(client)).rejects.toMatchObject(unfinished);
  await expect(bed.run(checkPrefixIsFree(optionsOf(client)))).rejects.toMatchObject(unfinished);
  await expect(restore()).rejects.toMatchObject(unfinished);
  await restore({ discardUnfinished: true });
  await bed.expectWhole(FROM, small);
});

test('a restore with the number of one that was ended replaces it, and no other one', async () => {
  const parts: ReturnType<typeof imageAt> = async function* (base) {
    yield* imageAt(21)(base);
    throw new Error('it is killed');
  };
  const client = await bed.client();
  const killed = restoreIntoPrefix(optionsOf(client, { restore: 0x77n }), { from: at(21), parts });
  await expect(bed.run(killed)).rejects.toThrow('it is killed');
  for (const number of [undefined, 0x78n]) {
    await expect(restore({ restore: number })).rejects.toMatchObject({ reason: 'unfinished' });
  }
  const free = optionsOf(client, { restore: 0x77n });
  await bed.run(checkPrefixIsFree(free));
  await restore({ restore: 0x77n });
  await bed.expectWhole(FROM, small);
});

test('one that still runs, and has the same number, ends, and what it had written is not used', async () => {
  const client = await bed.client();
  const replaced = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = restoreIntoPrefix(optionsOf(client, { restore: 0x77n }), {
    from: at(21),
    parts: async function* (base) {
      yield* imageAt(21)(base);
      begun.resolve();
      await replaced.promise;
    },
  });
  slow.catch(() => {});
  await bed.run(begun.promise);
  await restore({ restore: 0x77n });
  replaced.resolve();
  await expect(bed.run(slow)).rejects.toThrow();
  await bed.expectWhole(FROM, small);
  const leader = await bed.openSealed(first, small);
  await bed.fill(leader, FROM, 61, first);
  await bed.saveCollecting(leader, 61);
});

test('a cluster that is to follow an etcd is founded with the mark that it does', async () => {
  const follows = { clusterId: 0xe7cdn, from: ['10.0.0.1:2379'] };
  await restore({ cluster: { ...cluster, follows } });
  expect(await rootOf(await bed.client())).toEqual({ ...cluster, follows, firstRevision: 1 });
  await bed.expectWhole(FROM, small);
});

test('of a member that founds a cluster and a restore, one has the prefix', async () => {
  const [client, other] = [await bed.client(), await bed.client()];
  const outcomes = await bed.run(
    Promise.allSettled([
      openRoot({ client: other, keys: bed.logKeys, found: { clusterId: 7n, members: [] }, timeoutMs: 5_000 }),
      restoreIntoPrefix(optionsOf(client), { from: at(FROM), parts: imageAt(FROM) }),
    ]),
  );
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  await bed.expectWhole(outcomes[0].status === 'fulfilled' ? 1 : FROM, small);
});

test('a restore that another one replaces ends, and what it had written is not used', async () => {
  const client = await bed.client();
  const replaced = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  const slow = restoreIntoPrefix(optionsOf(client), {
    from: at(21),
    parts: async function* (base) {
      yield* imageAt(21)(base);
      begun.resolve();
      await replaced.promise;
    },
  });
  slow.catch(() => {});
  await bed.run(begun.promise);
  await restore({ discardUnfinished: true });
  replaced.resolve();
  await expect(bed.run(slow)).rejects.toMatchObject({ reason: 'unfinished' });
  await bed.expectWhole(FROM, small);
  const leader = await bed.openSealed(first, small);
  await bed.fill(leader, FROM, 61, first);
  await bed.saveCollecting(leader, 61);
});

const commands = new Set<CommandName>(['Prewrite', 'Commit', 'DeleteRange', 'Get', 'BatchGet', 'Scan']);
const atStep = (step: number, fault: () => Fault): (() => number) => bed.atStep(commands, step, fault);

async function countSteps(): Promise<number> {
  const count = atStep(0, () => ({ kind: 'lose' }));
  await restore();
  return count();
}

/** The number of requests of a restore. */
const STEPS = 17;
const steps = Array.from({ length: STEPS }, (_, index) => index + 1);

test('these are all the steps of a restore', async () => {
  expect(await countSteps()).toBe(STEPS);
});

describe.each([true, false])('a restore that is ended (its last request is executed: %s)', (executed) => {
  test.each(steps)('at step %i', async (step) => {
    const gone = new AbortController();
    atStep(step, () => {
      bed.clock.soon(() => gone.abort(new Error('gone')));
      return { kind: 'silence', executed };
    });
    const ended = await restore({ signal: gone.signal }).then(
      () => 'done',
      (error: unknown) => String(error),
    );
    const client = await bed.client();
    const found = await rootOf(client).then(
      (root) => (root.clusterId === cluster.clusterId ? 'restored' : 'founded'),
      (error: unknown) => (error as { reason?: string }).reason,
    );
    // What a member finds is the whole store, or nothing at all, or what it may not start on.
    if (found === 'restored') await bed.expectWhole(FROM, small);
    else if (found === 'unfinished') {
      await restore({ discardUnfinished: true });
      await bed.expectWhole(FROM, small);
    } else expect(found).toBe('founded');
    if (ended === 'done') expect(found).toBe('restored');
    else expect(ended).toContain('gone');
  });
});

test.each(steps)('a restore whose answer to request %i is lost ends with the whole store', async (step) => {
  atStep(step, () => ({ kind: 'lose' }));
  await restore();
  await bed.expectWhole(FROM, small);
});

test.each([true, false])(
  'a restore whose last answer is lost for good says what it does not know (%s)',
  async (executed) => {
    const client = await bed.client();
    let last = 0;
    const back = bed.cluster.script(({ command, request }) => {
      const { mutations } = request as { readonly mutations?: readonly { readonly key: Uint8Array }[] };
      const isLast =
        command === 'Prewrite' && mutations?.some(({ key }) => Buffer.compare(key, bed.logKeys.seal(1)) === 0);
      if (isLast) last += 1;
      // Nothing answers from then on.
      if (last > 0) return { kind: 'silence', executed: executed && isLast === true && last === 1 };
      return undefined;
    });
    const restoring = restoreIntoPrefix(optionsOf(client), { from: at(FROM), parts: imageAt(FROM) });
    await expect(bed.run(restoring)).rejects.toMatchObject({
      reason: 'not-accessible',
      message: expect.stringContaining('it is unknown whether'),
    });
    back();
    const found = await rootOf(await bed.client()).then(
      ({ clusterId }) => clusterId === cluster.clusterId,
      (error: unknown) => (error as { reason?: string }).reason,
    );
    expect(found).toBe(executed ? true : 'unfinished');
  },
);
