import assert from 'node:assert/strict';
import { confState, defaultLimits, logIndex, MemoryLog, NEW_HARD_STATE, nodeId, RawNode, term } from '@engram/raft-ts';

// A group begins with a snapshot: its first membership, and the application's first state.
const id = nodeId(1n);
const beginning = { index: logIndex(1), term: term(1), conf: confState([id]), data: new Uint8Array(0) };
const log = new MemoryLog(beginning);
const node = new RawNode({ ...defaultLimits, id, random: { uint32: () => 0 } }, log, {
  hardState: NEW_HARD_STATE,
  conf: beginning.conf,
  applied: beginning.index,
});

const words: string[] = [];

/** Does all the work that is due. */
function work(): void {
  while (node.hasReady) {
    const ready = node.ready();
    if (ready.persist !== undefined) {
      log.save(ready.persist); // with a disk, make it durable there first
      node.advance();
    }
    for (const entry of ready.committedEntries) {
      if (entry.kind === 'normal' && entry.data.length > 0) words.push(new TextDecoder().decode(entry.data));
      node.applied(entry.index);
    }
  }
}

node.campaign(); // or wait for `node.tick()` to do it
work();
assert.equal(node.status().role, 'leader');

node.propose(new TextEncoder().encode('hello'));
work();
assert.deepEqual(words, ['hello']);
