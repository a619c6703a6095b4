/**
 * Measures encoding and decoding of Kubernetes-shaped versions. SMOKE=1 makes the run small.
 *   node packages/coder/bench/coder.bench.ts
 *
 * The lower bound is one allocation and one copy of the value, and for a checkpoint some bytes for each key.
 */
import {
  CheckpointWriter,
  decodeCheckpointEntries,
  decodeKeyValue,
  decodeRecord,
  encodePutRecord,
  type KeyValue,
  keyValueValue,
  recordKv,
} from '@engram/coder';
import { type VersionMeta, leaseId, logPosition, NO_LEASE, revision, utf8 } from '@engram/core';
import { finish, unhurried } from '@engram/loop';

const smoke = process.env['SMOKE'] !== undefined;
const rounds = smoke ? 1_000 : 2_000_000;
const keyCount = smoke ? 1_000 : 1_000_000;

let hash = 0;
function time(name: string, operations: number, run: () => void): void {
  const startNs = process.hrtime.bigint();
  run();
  const ns = Number(process.hrtime.bigint() - startNs) / operations;
  console.log(`${name.padEnd(44)} ${ns.toFixed(0).padStart(6)} ns`);
}

const key = (index: number): Uint8Array =>
  utf8(`/registry/pods/namespace-${index % 100}/deployment-5d8f-${String(index).padStart(8, '0')}`);

for (const { bytes, lease } of [
  { bytes: 100, lease: NO_LEASE },
  { bytes: 600, lease: NO_LEASE },
  { bytes: 600, lease: leaseId(0x694d5c6a4f6a1d0bn) },
  { bytes: 4_000, lease: NO_LEASE },
]) {
  const kv: KeyValue = {
    key: key(1),
    createRevision: revision(3_000_000),
    modRevision: revision(5_000_000_000),
    version: 17,
    value: new Uint8Array(bytes).fill(7),
    lease,
  };
  const name = `value of ${bytes} B${lease === NO_LEASE ? '' : ', leased'}`;
  // A batch keeps its records for a while. So does this loop: the cost of collecting them is measured, too.
  const kept = new Array<Uint8Array>(512).fill(kv.value);
  time(`encodePutRecord, ${name}`, rounds, () => {
    for (let round = 0; round < rounds; round += 1) kept[round & 511] = encodePutRecord(0, kv);
  });
  const record = encodePutRecord(0, kv);
  const encoded = recordKv(record);
  time(`recordKv, ${name}`, rounds, () => {
    for (let round = 0; round < rounds; round += 1) hash = (hash + recordKv(record).length) | 0;
  });
  time(`decodeRecord and decodeKeyValue, ${name}`, rounds, () => {
    for (let round = 0; round < rounds; round += 1) {
      const decoded = decodeRecord(record);
      if (decoded.kind === 'put') hash = (hash + decodeKeyValue(decoded.kv).version) | 0;
    }
  });
  time(`keyValueValue, ${name}`, rounds, () => {
    for (let round = 0; round < rounds; round += 1) hash = (hash + keyValueValue(encoded).length) | 0;
  });
  hash = (hash + kept[7]!.length) | 0;
}

const keys = Array.from({ length: keyCount }, (_, index) => key(index));
keys.sort((left, right) => Buffer.compare(left, right));
const versions: readonly VersionMeta[] = [
  {
    createRevision: revision(3_000_000),
    modRevision: revision(5_000_000_000),
    sub: 0,
    version: 17,
    lease: NO_LEASE,
    tombstone: false,
    position: logPosition(5_000_000_123),
    bytes: 700,
  },
];
const chunks: Uint8Array[] = [];
time('checkpoint, writing a key with one version', keyCount, () => {
  const writer = new CheckpointWriter();
  for (const next of keys) {
    const chunk = writer.add(next, versions);
    if (chunk !== undefined) chunks.push(chunk);
  }
  const last = writer.finish();
  if (last !== undefined) chunks.push(last);
});
time('checkpoint, reading it', keyCount, () => {
  for (const chunk of chunks) {
    const visit = (found: Uint8Array, list: readonly unknown[]): void => {
      hash = (hash + found.length + list.length) | 0;
    };
    finish(decodeCheckpointEntries(chunk, visit, unhurried));
  }
});
const size = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
console.log(`${'  bytes of a key'.padEnd(44)} ${(size / keyCount).toFixed(1).padStart(6)}`);
console.log(`hash ${hash}`);
