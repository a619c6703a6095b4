import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePorts } from '../../test/support/free-port.ts';
import { storeCommand } from '../../test/support/store-process.ts';
import type { Judge } from '../support/judge.ts';
import { Program } from './program.ts';

/** All of the package that need no other program of Vitess. */
const TESTS = ['TestEtcd2Topo', 'TestEtcd2TLS', 'TestWatchTopoVersion'];
const TEST_MAX_MS = 120_000;
/** Vitess takes ports by their distance from the first. */
const PORTS = 8;

export interface VitessOptions {
  readonly folder: string;
  /** The compiled tests of Vitess' topology on etcd. */
  readonly tests: string;
}

/** Vitess' own tests of its topology, which start a program of the name etcd: the store. */
export async function vitess(judge: Judge, { folder, tests }: VitessOptions): Promise<void> {
  await mkdir(folder, { recursive: true });
  const launcher = join(folder, 'launcher');
  const quoted = storeCommand().map((word) => `'${word}'`);
  await writeFile(launcher, `#!/bin/sh\nexec ${quoted.join(' ')} "$@"\n`);
  await chmod(launcher, 0o755);
  await symlink(launcher, join(folder, 'etcd'));
  for (const test of TESTS) {
    await judge.check(`vitess: ${test}`, async () => {
      const environment = {
        PATH: `${folder}:${process.env['PATH']}`,
        VTPORTSTART: String(await portsInARow()),
        TMPDIR: folder,
      };
      const output = await Program.run(tests, [`-test.run=^${test}$`, '-test.v'], TEST_MAX_MS, {
        environment,
        cwd: folder,
      });
      // A pattern that fits no test is a success, too.
      if (!output.includes(`--- PASS: ${test}`)) throw new Error(`it did not run:\n${output}`);
    });
  }
}

async function portsInARow(): Promise<number> {
  for (let ports = await freePorts(PORTS); ; ports = [...ports.slice(1), ...(await freePorts(1))]) {
    const first = ports[0]!;
    if (ports.every((port, at) => port === first + at)) return first;
  }
}
