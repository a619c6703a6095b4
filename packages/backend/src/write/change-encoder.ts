import { encodeDeleteRecord, encodePutRecord, recordKv } from '@engram/coder';
import type { ChangeEncoder } from '@engram/sequencer';

/** Encodes changes as records of the log. */
export const changeEncoder: ChangeEncoder = {
  put(change) {
    const record = encodePutRecord(change.sub, change);
    return { record, kv: recordKv(record) };
  },
  delete(sub, key, modRevision) {
    const record = encodeDeleteRecord(sub, key, modRevision);
    return { record, kv: recordKv(record) };
  },
};
