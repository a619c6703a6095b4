import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { TikvClient } from '@engram/tikv-client';
import { accountKey, type BankResult, openBank, runBank, totalOf } from './bank.ts';
import { type Checks, expectEqual } from './check.ts';
import type { Lab } from './lab.ts';
import { bytes } from './rows.ts';

const anyOf = <Item>(items: readonly Item[]): Item => items[Math.floor(Math.random() * items.length)]!;

export function judge(result: BankResult, timeoutMs: number): void {
  expectEqual(
    [result.wrongTotals, result.lost, result.ghosts, result.halves],
    [0, 0, 0, 0],
    `wrong totals, lost, ghosts, halves in ${JSON.stringify(result)}`,
  );
  // A transfer is three calls, each with its own deadline.
  expectEqual(result.longestCallMs < 3 * timeoutMs + 1_000, true, `longest call ${result.longestCallMs}`);
  expectEqual(result.moved > 0, true, 'something moved');
}

/** 64 callers work during each fault, for `seconds` each. */
export async function faults(checks: Checks, lab: Lab, seconds: number): Promise<void> {
  const timeoutMs = 15_000;
  await using client = await TikvClient.connect({ pdAddresses: lab.pdAddresses, requestTimeoutMs: 3_000 });
  await client.admin.split(['pbank/0250', 'pbank/0500', 'pbank/0750', 'pledger/', 'pmirror/'].map(bytes));
  await openBank(client, 1_000);
  const under = (name: string, fault: (until: () => boolean) => Promise<void>): Promise<void> =>
    checks.check(`faults: ${name}`, async () => {
      let done = false;
      const running = runBank(client, {
        accounts: 1_000,
        callers: 64,
        seconds,
        timeoutMs,
        run: name.replaceAll(/\W+/g, '-'),
      }).finally(() => {
        done = true;
      });
      running.catch(() => {});
      let storeMib = 0;
      const memory = setInterval(() => {
        const all = lab.memoryMib();
        const most = Math.max(...Object.values(all));
        if (most > 900 && storeMib <= 900) console.log(`     memory in MiB: ${JSON.stringify(all)}`);
        storeMib = Math.max(storeMib, most);
      }, 1_000);
      await sleep(3_000);
      const trouble = await fault(() => done).then(
        () => undefined,
        (error: unknown) => error ?? 'unknown',
      );
      const result = await running.finally(() => clearInterval(memory));
      if (trouble !== undefined) throw trouble;
      judge(result, timeoutMs);
      const { longestPauseMs, longestCallMs, ...counts } = result;
      return `longest pause ${Math.round(longestPauseMs)} ms, longest transfer ${Math.round(longestCallMs)} ms, ${JSON.stringify(counts)}, largest store ${storeMib} MiB`;
    });
  /** A part of a fault's cycle: at most a third of the run. */
  const pause = (ms: number): Promise<void> => sleep(Math.min(ms, (seconds * 1_000) / 3));
  // The run without a fault is for comparing figures, which a short run does not give.
  if (seconds >= 60) await under('no fault, for comparison', async () => {});
  await under('kill -9 and restart of the store that leads most regions', async (done) => {
    while (!done()) {
      const process = await lab.processOf(await lab.busiestStore());
      lab.signal(`s${process}`, 'SIGKILL');
      await pause(10_000);
      lab.restartStore(process);
      await pause(20_000);
    }
  });
  await under('a store that stops (SIGSTOP) and goes on', async (done) => {
    while (!done()) {
      const process = await lab.processOf(await lab.busiestStore());
      lab.signal(`s${process}`, 'SIGSTOP');
      await pause(8_000);
      lab.signal(`s${process}`, 'SIGCONT');
      await pause(15_000);
    }
  });
  await under('splits every second and transfers of leaders', async (done) => {
    for (let at = 0; !done(); at += 1) {
      await client.admin.split([accountKey((at * 37) % 1_000)], { timeoutMs: 5_000 }).catch(() => undefined);
      const regions = await lab.regions();
      // Moves some leaders at a time, repeatedly: this store sometimes keeps an old epoch of a region that it leads,
      // and then refuses all requests until another store leads it.
      await Promise.all(
        Array.from({ length: Math.ceil(regions.length / 10) }, () => {
          const region = anyOf(regions);
          return lab.transferLeader(region, anyOf(region.stores));
        }),
      );
      await sleep(1_000);
    }
  });
  if (lab.pds > 1) {
    await under('kill -9 of the leader of PD', async (done) => {
      while (!done()) {
        const leader = await lab.pdLeader();
        lab.signal(`pd${leader}`, 'SIGKILL');
        await pause(10_000);
        lab.restartPd(leader);
        await pause(10_000);
      }
    });
  }
  await under('clients that are killed between prewrite and commit', async (done) => {
    for (let at = 0; !done(); at += 1) {
      const child = spawn(
        process.execPath,
        [join(import.meta.dirname, 'bank-child.ts'), lab.pdAddresses.join(','), `child-${at}`],
        { stdio: 'ignore' },
      );
      await sleep(1_500 + Math.random() * 1_500);
      child.kill('SIGKILL');
    }
  });
  await checks.check('faults: the total after all of it', async () => {
    expectEqual((await totalOf(client, 30_000)).total, 1_000 * 1_000, 'total');
  });
}
