import assert from 'node:assert/strict';
import {
  confState,
  defaultLimits,
  logIndex,
  MemoryLog,
  type Message,
  NEW_HARD_STATE,
  type NodeId,
  nodeId,
  RawNode,
  term,
  decodeMessage,
  encodeMessage,
} from '@engram/raft-ts';

const ids = [nodeId(1n), nodeId(2n), nodeId(3n)];
const beginning = { index: logIndex(1), term: term(1), conf: confState(ids), data: new Uint8Array(0) };

/** Stands for the network: messages on their way, as bytes. */
const network: { to: NodeId; bytes: Uint8Array }[] = [];

/** Sums the bytes of the committed entries. */
class Member {
  readonly log = new MemoryLog(beginning);
  readonly node: RawNode;
  sum = 0;
  reads: string[] = [];

  constructor(id: NodeId) {
    const random = { uint32: () => Math.floor(Math.random() * 2 ** 32) };
    const initial = { hardState: NEW_HARD_STATE, conf: beginning.conf, applied: beginning.index };
    this.node = new RawNode({ ...defaultLimits, id, random }, this.log, initial);
  }

  work(): void {
    while (this.node.hasReady) {
      const { messages, persist, committedEntries, readStates } = this.node.ready();
      this.send(messages);
      if (persist !== undefined) {
        this.log.save(persist);
        this.send(persist.messages); // not before the save
        this.node.advance();
      }
      for (const entry of committedEntries) {
        if (entry.kind === 'normal') for (const byte of entry.data) this.sum += byte;
        this.node.applied(entry.index);
      }
      for (const { context, index } of readStates) {
        assert(this.node.status().applied >= index);
        this.reads.push(`${new TextDecoder().decode(context)}: ${this.sum}`);
      }
    }
  }

  send(messages: readonly Message[]): void {
    for (const message of messages) network.push({ to: message.to, bytes: encodeMessage(message) });
  }
}

const members = new Map(ids.map((id) => [id, new Member(id)]));
const all = [...members.values()];

function settle(): void {
  for (;;) {
    for (const member of all) member.work();
    const sent = network.shift();
    if (sent === undefined) return;
    members.get(sent.to)?.node.step(decodeMessage(sent.bytes));
  }
}

// Ticks until one node leads.
let leader: Member | undefined;
while (leader === undefined) {
  for (const { node } of all) node.tick();
  settle();
  leader = all.find(({ node }) => node.status().role === 'leader');
}

// The index and term of a proposal tell its outcome: it is committed iff an entry of that term is applied at that index.
const outcome = leader.node.propose(new Uint8Array([40]), new Uint8Array([2]));
assert.equal(outcome.kind, 'appended');
settle();
assert.deepEqual(
  all.map(({ sum }) => sum),
  [42, 42, 42],
);

// A linearizable read on any node: the leader asks a majority whether it still leads.
const follower = all.find((member) => member !== leader)!;
follower.node.readIndex(new TextEncoder().encode('read 1'));
settle();
assert.deepEqual(follower.reads, ['read 1: 42']);

// The membership changes one step at a time.
const change = { kind: 'remove', node: follower.node.status().id, context: new Uint8Array(0) } as const;
assert.equal(leader.node.proposeConfChange(change).kind, 'appended');
assert.deepEqual(leader.node.proposeConfChange(change), { kind: 'dropped', reason: 'conf-change-pending' });
settle();
assert.equal(leader.node.conf.voters.length, 2);
