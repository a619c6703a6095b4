// Tests the TiKV client on a real PD and real stores: its functions, its compatibility with client-go, and its behavior
// under faults.
//   node suite.ts [basics,cross,onenode,safe-points,storage,timestamps,faults | all] [--only NAME] [--seconds N] [--races N] [--keep]
import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { basics } from './basics.ts';
import { Checks } from './check.ts';
import { cross } from './cross.ts';
import { faults } from './faults.ts';
import { Lab } from './lab.ts';
import { oneNode } from './onenode.ts';
import { safePoints } from './safe-points.ts';
import { storage } from './storage.ts';
import { tables } from './tables.ts';
import { timestamps } from './timestamps.ts';

const { values, positionals } = parseArgs({
  options: {
    only: { type: 'string' },
    seconds: { type: 'string', default: '120' },
    races: { type: 'string', default: '10000' },
    keep: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});
const parts = (positionals[0] ?? 'all').split(',');
const seconds = Number(values.seconds);
const checks = new Checks(values.only);
const dir = mkdtempSync(join(process.env['TMPDIR'] ?? '/tmp', 'tikv-e2e-'));
const wants = (name: string): boolean => parts.includes('all') || parts.includes(name);

try {
  if (wants('basics') || wants('cross')) {
    await using lab = await Lab.startReplicated(join(dir, 'one'), { pds: 1 });
    checks.refusal = () => lab.refusal;
    if (wants('basics')) await basics(checks, lab);
    if (wants('cross')) await cross(checks, lab, Math.min(20, seconds));
  }
  if (wants('basics')) {
    await using lab = await Lab.startReplicated(join(dir, 'tables'), { pds: 1, memTable: 1 << 20 });
    checks.refusal = () => lab.refusal;
    await tables(checks, lab);
  }
  if (wants('onenode')) {
    await using lab = await Lab.start(join(dir, 'onenode'), { store: 'onenode' });
    checks.refusal = () => lab.refusal;
    await oneNode(checks, lab, Math.min(20, seconds));
  }
  if (wants('safe-points')) {
    await using lab = await Lab.start(join(dir, 'safe-points'), { store: 'onenode' });
    checks.refusal = () => lab.refusal;
    await safePoints(checks, lab);
  }
  if (wants('storage')) {
    await using lab = await Lab.startReplicated(join(dir, 'storage'), { pds: 1 });
    checks.refusal = () => lab.refusal;
    await storage(checks, lab, Number(values.races), Math.max(20, 4 * seconds));
  }
  if (wants('timestamps')) {
    await using lab = await Lab.startReplicated(join(dir, 'timestamps'), { pds: 1 });
    checks.refusal = () => lab.refusal;
    await timestamps(checks, lab);
  }
  if (wants('faults')) {
    await using lab = await Lab.startReplicated(join(dir, 'three'), { pds: 3 });
    checks.refusal = () => lab.refusal;
    await faults(checks, lab, seconds);
  }
} finally {
  if (!values.keep) rmSync(dir, { recursive: true, force: true });
}
checks.end('e2e-tikv');
