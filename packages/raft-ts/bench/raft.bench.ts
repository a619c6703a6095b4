import {
  confState,
  defaultLimits,
  logIndex,
  MemoryLog,
  type Message,
  NEW_HARD_STATE,
  nodeId,
  type NodeId,
  RawNode,
  term,
  decodeMessage,
  encodeMessage,
} from '@engram/raft-ts';

// The limit: an entry of 512 B that is replicated to two followers costs a few microseconds on all three nodes together. A
// store spends tens of microseconds on it. All waiting reads share a round, so the cost is in heartbeats, not in reads.
const full = process.env['BENCH'] !== 'smoke';
const rounds = full ? 20_000 : 20;
const perRound = 16;
const payload = new Uint8Array(512).fill(7);

function report(name: string, count: number, startNs: bigint, hash: number): void {
  const ns = Number(process.hrtime.bigint() - startNs);
  console.log(`${name}: ${count} in ${(ns / 1e6).toFixed(0)} ms, ${(ns / count).toFixed(0)} ns each (hash ${hash})`);
}

const ids = [nodeId(1n), nodeId(2n), nodeId(3n)];
const beginning = { index: logIndex(1), term: term(1), conf: confState(ids), data: new Uint8Array(0) };

class Member {
  readonly id: NodeId;
  readonly log = new MemoryLog(beginning);
  readonly node: RawNode;
  inbox: Message[] = [];
  applied = 0;
  reads = 0;

  constructor(id: NodeId) {
    this.id = id;
    const options = { ...defaultLimits, id, random: { uint32: () => 0 } };
    const initial = { hardState: NEW_HARD_STATE, conf: beginning.conf, applied: beginning.index };
    this.node = new RawNode(options, this.log, initial);
  }

  work(): void {
    for (const message of this.inbox) this.node.step(message);
    this.inbox = [];
    while (this.node.hasReady) {
      const { messages, persist, committedEntries, readStates } = this.node.ready();
      send(messages);
      if (persist !== undefined) {
        this.log.save(persist);
        send(persist.messages);
        this.node.advance();
      }
      this.applied += committedEntries.length;
      this.reads += readStates.length;
      const last = committedEntries.at(-1);
      if (last !== undefined) this.node.applied(last.index);
    }
  }

  compact(): void {
    const index = this.node.status().applied;
    const at = this.log.term(index)!;
    this.log.setSnapshot({ index, term: at, conf: this.node.conf, data: new Uint8Array(0) });
    this.log.compact(index);
  }
}

const members = new Map(ids.map((id) => [id, new Member(id)]));
const all = [...members.values()];
const leader = all[0]!;

function send(messages: readonly Message[]): void {
  for (const message of messages) members.get(message.to)!.inbox.push(message);
}

function settle(): void {
  do for (const member of all) member.work();
  while (all.some((member) => member.inbox.length > 0 || member.node.hasReady));
}

leader.node.campaign();
settle();

let startNs = process.hrtime.bigint();
for (let round = 0; round < rounds; round += 1) {
  for (let count = 0; count < perRound; count += 1) leader.node.propose(payload);
  settle();
  // Keeps the log short, as in a group that runs for long.
  if (round % 64 === 63) for (const member of all) member.compact();
}
report('entry of 512 B, proposed, replicated and applied on three nodes', rounds * perRound, startNs, leader.applied);

startNs = process.hrtime.bigint();
for (let round = 0; round < rounds; round += 1) {
  for (let count = 0; count < perRound; count += 1) leader.node.readIndex(payload);
  settle();
}
report('linearizable read, 16 at a time', rounds * perRound, startNs, leader.reads);

startNs = process.hrtime.bigint();
for (let round = 0; round < rounds; round += 1) {
  leader.node.tick();
  settle();
}
report('tick of a leader, with heartbeats and answers', rounds, startNs, leader.node.status().commit);

const append: Message = {
  type: 'append',
  from: ids[0]!,
  to: ids[1]!,
  term: term(2),
  prevIndex: logIndex(1),
  prevTerm: term(1),
  entries: Array.from({ length: perRound }, (_, at) => ({
    kind: 'normal' as const,
    index: logIndex(2 + at),
    term: term(2),
    data: payload,
  })),
  commit: logIndex(1),
};
startNs = process.hrtime.bigint();
let hash = 0;
for (let round = 0; round < rounds; round += 1) hash += encodeMessage(append).length;
report('encode an append of 16 entries of 512 B', rounds, startNs, hash);

const encoded = encodeMessage(append);
startNs = process.hrtime.bigint();
hash = 0;
for (let round = 0; round < rounds; round += 1) hash += decodeMessage(encoded).type.length;
report('decode it', rounds, startNs, hash);
