import { assert } from '@engram/core';

const PAGE = 4096;
const BRANCH = 1;
const LEAF = 2;
const META = 4;

export type Bucket = readonly (readonly [key: Buffer, value: Buffer])[];

/**
 * Reads a bbolt file and checks it as bbolt does (go.etcd.io/bbolt tx_check.go): each page is reached exactly once,
 * page ids and types are right, and keys ascend within the bounds of their branches.
 */
export function readBbolt(file: Buffer): Map<string, Bucket> {
  const meta = file.subarray(PAGE + 16);
  for (const id of [0, 1]) {
    assert(file.readUInt16LE(id * PAGE + 8) === META, 'no meta page');
    assert(
      fnv1a(file.subarray(id * PAGE + 16, id * PAGE + 72)) === file.readBigUInt64LE(id * PAGE + 72),
      'bad checksum',
    );
  }
  assert(meta.readUInt32LE(0) === 0xed0cdaed && meta.readUInt32LE(4) === 2, 'not a bbolt file');
  assert(meta.readUInt32LE(8) === PAGE, 'another page size');
  const pages = Number(meta.readBigUInt64LE(40));
  assert(file.length === pages * PAGE, 'not as long as it says');
  const reached = new Set([0, 1]);

  const entries = (id: number, isRoot: boolean): Bucket => {
    const at = id * PAGE;
    assert(Number(file.readBigUInt64LE(at)) === id, `page ${id} has another id`);
    const flags = file.readUInt16LE(at + 8);
    const count = file.readUInt16LE(at + 10);
    const overflow = file.readUInt32LE(at + 12);
    for (let page = id; page <= id + overflow; page += 1) {
      assert(!reached.has(page) && page < pages, `page ${page} is reached twice, or beyond the end`);
      reached.add(page);
    }
    assert(count > 0 || isRoot, `page ${id} is empty`);
    const found: (readonly [Buffer, Buffer])[] = [];
    for (let element = 0; element < count; element += 1) {
      const head = at + 16 + element * 16;
      if (flags === LEAF) {
        const key = head + file.readUInt32LE(head + 4);
        const value = key + file.readUInt32LE(head + 8);
        const end = value + file.readUInt32LE(head + 12);
        assert(end <= at + (overflow + 1) * PAGE, 'an entry reaches past its page');
        found.push([file.subarray(key, value), file.subarray(value, end)]);
      } else {
        assert(flags === BRANCH, `page ${id} is neither leaf nor branch`);
        const key = head + file.readUInt32LE(head);
        const first = file.subarray(key, key + file.readUInt32LE(head + 4));
        const below = entries(Number(file.readBigUInt64LE(head + 8)), false);
        assert(below[0]![0].equals(first), 'a branch names another first key');
        found.push(...below);
      }
    }
    return found;
  };
  const tree = (root: bigint): Bucket => {
    const found = entries(Number(root), true);
    for (let at = 1; at < found.length; at += 1) {
      assert(Buffer.compare(found[at - 1]![0], found[at]![0]) < 0, 'keys do not ascend');
    }
    return found;
  };
  const buckets = new Map<string, Bucket>();
  for (const [name, value] of entries(Number(meta.readBigUInt64LE(16)), true)) {
    buckets.set(name.toString(), tree(value.readBigUInt64LE(0)));
  }
  assert(reached.size === pages, 'a page is not reached');
  return buckets;
}

function fnv1a(bytes: Buffer): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of bytes) hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) & 0xffffffffffffffffn;
  return hash;
}
