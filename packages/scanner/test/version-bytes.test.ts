import { ByteViews, logPosition } from '@engram/core';
import { RecordCache, VersionBytes } from '@engram/scanner';
import { MemoryStorage, StorageTrimmedError, type Values } from '@engram/storage';
import { expect, test } from 'vitest';

const never = new AbortController().signal;
const wanted = [logPosition(1)];

function failing(error: Error): VersionBytes {
  const { values } = new MemoryStorage();
  const broken: Values = Object.assign(Object.create(values), {
    peek: () => undefined,
    getMany: () => Promise.reject(error),
  });
  return new VersionBytes(new RecordCache(1000), broken);
}

test.each(['getMany', 'collect', 'passing'] as const)(
  '%s: what is gone with its log is to be asked for again',
  async (way) => {
    const trimmed = new StorageTrimmedError('gone');
    const read = (bytes: VersionBytes): unknown =>
      way === 'collect' ? bytes.collect(new Float64Array(wanted), new ByteViews(), never) : bytes[way](wanted, never);
    const error: unknown = await Promise.resolve(read(failing(trimmed))).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: 'Timeout', cause: trimmed });
    const other = new Error('anything else');
    await expect(Promise.resolve(read(failing(other)))).rejects.toBe(other);
  },
);
