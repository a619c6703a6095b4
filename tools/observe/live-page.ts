import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from '../release/bundle.ts';

const START_MAX_MS = 60_000;

/** `/metrics` of a member that has just started, with every metric. Rejects if it does not start within a minute. */
export async function livePage(): Promise<string> {
  const data = mkdtempSync(join(tmpdir(), 'engram-metrics-'));
  const url = 'http://127.0.0.1:0';
  const flags = [
    '--data-dir',
    data,
    '--metrics=extensive',
    '--listen-client-urls',
    url,
    '--advertise-client-urls',
    url,
  ];
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('ETCD_')));
  const child = spawn(join(root, 'packages/server/bin/engram'), flags, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env,
    timeout: START_MAX_MS,
  });
  try {
    let address: string | undefined;
    for await (const line of createInterface({ input: child.stderr })) {
      const said: { readonly msg?: string; readonly address?: string } = JSON.parse(line);
      if (said.msg === 'ready to serve client requests') address = said.address;
      if (said.msg === 'now serving') break;
    }
    if (address === undefined) throw new Error('the member does not serve');
    return await (await fetch(`http://${address}/metrics`)).text();
  } finally {
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, 'exit');
      child.kill('SIGKILL');
      await ended;
    }
    rmSync(data, { recursive: true, force: true });
  }
}
