import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Prng } from '@engram/sim';
import { EtcdClient } from '../support/etcd-client.ts';
import { newStorePlace, StoreProcess } from '../support/store-process.ts';
import { Recorder } from './record.ts';

export interface LinearizabilityOptions {
  readonly seed: number;
  readonly clients: number;
  /** Each is a new process on the same data. All but the last end with kill -9. */
  readonly lives: number;
  readonly callsEachLife: number;
  /** Called with the endpoint of the last life when its calls have ended. */
  readonly ended?: (endpoint: string) => Promise<void>;
}

/** Runs clients against a real process that is killed again and again. Returns the recorder of all their calls. */
export async function recordLives(options: LinearizabilityOptions): Promise<Recorder> {
  const prng = new Prng(options.seed);
  const recorder = new Recorder(prng);
  const folder = await mkdtemp(join(tmpdir(), 'engram-linearizability-'));
  try {
    const place = await newStorePlace(join(folder, 'data'));
    for (let life = 1; life <= options.lives; life += 1) {
      await using store = await StoreProcess.start(place);
      let left = Math.ceil(options.callsEachLife * (0.5 + prng.below(1000) / 1000));
      const alive = { value: true };
      const clients = Array.from({ length: options.clients }, async () => {
        using client = new EtcdClient(store.endpoint, { deadlineMs: 5000 });
        while (left > 0 && alive.value) {
          left -= 1;
          // The calls of the other clients are running when this client kills the store.
          if (left === 0 && life < options.lives) {
            const kill = store.kill();
            alive.value = false;
            await kill;
            return;
          }
          if (!(await recorder.call(client))) return;
        }
      });
      await Promise.all(clients);
      if (life === options.lives) await options.ended?.(store.endpoint);
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return recorder;
}
