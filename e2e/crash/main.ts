/**
 * Kills the store with SIGKILL at random moments under load, and compares its data after each restart with the answers
 * that its clients got. See README.md.
 *
 *   main.ts <folder> [--rounds N] [--seed N]
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { Prng } from '@engram/sim';
import { bounded } from '../../test/support/bounded.ts';
import { ALL_KEYS, EtcdClient } from '../../test/support/etcd-client.ts';
import { newStorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { endOnSignals } from '../support/end-on-signals.ts';
import { stillHeld } from '../support/nothing-held.ts';
import { BrokenPromise, History } from './history.ts';
import { type HashForm, Inspection } from './inspection.ts';
import { Load } from './load.ts';

const LOAD_MAX_MS = 700;
const START_MAX_MS = 600;
const LOAD_ENDS_MAX_MS = 30_000;
const ABORTED_START_CHANCE = 0.2;
const STOP_EACH_ROUNDS = 10;
const EXPIRY_EACH_ROUNDS = 25;
const SHORT_TTL_S = 3;
/** A restart may give a lease its full time again, and the store checks for expired leases periodically. */
const EXPIRY_MAX_MS = 20_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    rounds: { type: 'string', default: '100' },
    seed: { type: 'string', default: String(Date.now() % 2 ** 32) },
  },
});
const rounds = Number(values.rounds);
const seed = Number(values.seed);
const prng = new Prng(seed);

const place = await newStorePlace(join(positionals[0] ?? '.', 'data'));
const history = new History();
const load = new Load(prng);
let form: HashForm | undefined;
let store = await StoreProcess.start(place);
let abortedStarts = 0;

endOnSignals();

/** Kills the store at a random moment of its load, and sometimes again while it restarts. */
async function crash(): Promise<void> {
  // The first moments are as likely to show a fault as all later ones together.
  const loadMs = prng.chance(0.25) ? prng.below(40) : prng.below(LOAD_MAX_MS);
  const asked = await underLoad(loadMs);
  while (prng.chance(ABORTED_START_CHANCE)) {
    abortedStarts += 1;
    store = new StoreProcess(place);
    await delay(prng.below(START_MAX_MS));
    await store.kill();
  }
  store = await StoreProcess.start(place);
  using client = new EtcdClient(store.endpoint);
  const inspection = new Inspection(client, history, load, prng);
  await inspection.run(asked);
  ({ form } = await inspection.checkHash(form));
}

async function underLoad(loadMs: number) {
  const kill = async (): Promise<void> => {
    await delay(loadMs);
    await store.kill();
  };
  let killed: Promise<void> | undefined;
  const first = (): void => {
    killed ??= kill();
  };
  // Kills a store that acknowledges nothing.
  const patience = setTimeout(first, LOAD_ENDS_MAX_MS / 2);
  const running = load.runRound(store.endpoint, history, first);
  try {
    const asked = await bounded('the load ends with the store', LOAD_ENDS_MAX_MS, running);
    await killed;
    return asked;
  } finally {
    clearTimeout(patience);
  }
}

/** Checks that the store is the same after an orderly stop and a start. */
async function cleanRestart(): Promise<void> {
  const before = await inspect((inspection) => inspection.checkHash(form));
  await store.stop();
  store = await StoreProcess.start(place);
  const after = await inspect(async (inspection) => {
    await inspection.run({ acknowledged: new Map(), open: [], highestSeen: history.revision });
    return inspection.checkHash(form);
  });
  if (before.hash !== after.hash) throw new BrokenPromise('HashKV is another after a clean restart');
}

/** Checks that a lease which runs when the store dies ends after the restart, and that its keys are deleted in one revision. */
async function expiryOverCrash(): Promise<void> {
  using client = new EtcdClient(store.endpoint);
  const { id, asked } = await load.attachShortLease(client, SHORT_TTL_S, history);
  await store.kill();
  store = await StoreProcess.start(place);
  await inspect(async (inspection, restarted) => {
    const end = async (): Promise<number> => {
      const abort = new AbortController();
      const startRevision = asked.highestSeen + 1;
      for await (const { header, events } of restarted.watch({ ...ALL_KEYS, startRevision }, abort.signal)) {
        if (events.length > 0) return header?.revision ?? 0;
      }
      throw new BrokenPromise('the watch ended before the lease');
    };
    await bounded(`lease ${id} runs out`, EXPIRY_MAX_MS, end());
    await inspection.run({ ...asked, highestSeen: asked.highestSeen + 1 });
    if ([...history.state.values()].some(({ lease }) => lease === id)) {
      throw new BrokenPromise(`lease ${id} ran out, and some of its keys are there`);
    }
  });
}

async function inspect<Result>(work: (inspection: Inspection, client: EtcdClient) => Promise<Result>): Promise<Result> {
  using client = new EtcdClient(store.endpoint);
  return await work(new Inspection(client, history, load, prng), client);
}

let passed = 0;
let failed = 0;
const startMs = Date.now();
console.log(`${rounds} rounds, --seed ${seed}`);
try {
  for (let round = 1; round <= rounds; round += 1) {
    await crash();
    if (round % STOP_EACH_ROUNDS === 0) await cleanRestart();
    if (round % EXPIRY_EACH_ROUNDS === 0) await expiryOverCrash();
    passed += 1;
    if (round % 10 === 0 || round === rounds) {
      console.log(
        `round ${round}: revision ${history.revision}, compacted ${history.compacted}, ` +
          `${load.writesAcknowledged} writes acknowledged, ${Math.round((Date.now() - startMs) / 1000)} s`,
      );
    }
  }
  const held = await stillHeld(store.endpoint);
  if (held.length > 0) throw new BrokenPromise(`held for calls that have ended: ${held.join(', ')}`);
} catch (error) {
  failed = 1;
  console.log(`round ${passed + 1} of --seed ${seed} failed: ${error instanceof Error ? error.stack : error}`);
  console.log(`the store's last lines:\n${store.output.split('\n').slice(-30).join('\n')}`);
  process.exitCode = 1;
} finally {
  await store.kill();
}
console.log(`HashKV in the form of ${form}; killed ${abortedStarts} times while it came back`);
console.log(`e2e-crash: ${passed} passed, ${failed} failed`);
process.exit();
