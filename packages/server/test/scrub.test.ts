import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ALARM_CORRUPT, nodeItself } from '@engram/backend';
import { putOp } from '@engram/core';
import { startLoneMember } from '@engram/member';
import { quiet, realClock, realRandom } from '@engram/sim';
import { openSegmentStorage } from '@engram/storage-segment';
import { expect, test, vi } from 'vitest';

test('a byte that has changed on the disk of a node that is alone is found, and raises the alarm CORRUPT', async () => {
  const path = await mkdtemp(join(tmpdir(), 'engram-scrub-'));
  try {
    const common = { clock: realClock, random: realRandom, logger: quiet };
    const member = await startLoneMember({
      ...common,
      storage: await openSegmentStorage({ path, ...common }),
      identity: { clusterId: 1n, memberId: 2n, name: 'm', peerUrls: [], clientUrls: [] },
      settings: {},
      limits: {},
      version: '3.7.0',
      compaction: { mode: 'off' },
      startCount: 1,
      scrub: { bytesPerSecond: 1 << 30, pauseMs: 1 },
      onFatal: (error) => expect.fail(String(error)),
    });
    await using _member = member;
    const value = Buffer.from('a value that the disk forgets');
    await member.store.txn({ compares: [], success: [putOp(Buffer.from('k'), value)], failure: [] }, nodeItself);
    await vi.waitFor(() => expect(member.scrub!.counts.passes).toBeGreaterThan(1));
    expect(member.store.alarms()).toEqual([]);
    for (const name of await readdir(path)) {
      const file = join(path, name);
      const bytes = await readFile(file).catch(() => Buffer.alloc(0));
      const at = bytes.indexOf(value);
      if (at < 0) continue;
      bytes[at] = bytes[at]! ^ 1;
      await writeFile(file, bytes, { flag: 'r+' });
    }
    await vi.waitFor(() => expect(member.store.alarms()).toEqual([{ memberId: 2n, alarm: ALARM_CORRUPT }]));
    expect(member.scrub!.counts.damaged).toBeGreaterThan(0);
  } finally {
    await rm(path, { recursive: true, force: true });
  }
});
