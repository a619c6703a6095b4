import { Prng } from '@engram/sim';
import { Coverage } from './coverage.ts';
import type { Finding, Kept } from './finding.ts';
import { keptFrames, keptOf, type Outcome, type PeerAttack, play, someAttack } from './peer-attack.ts';
import { CLUSTER, MEMBERS, PeerCluster, REMOVED } from './peer-cluster.ts';
import type { Line } from './peer-messages.ts';

const STRANGER = 0x666n;
const ANSWER_MS_MAX = 5000;
const GROWTH_MAX_BYTES = 300 << 20;
const KEPT_MAX = 2000;
/** Attacks at a time, of one member few. Groups of them between two looks at the members. */
const GROUP = 4;
const GROUPS = 4;
/** The share of the time in which the attackers are no members. */
const OUTSIDE_SHARE = 0.6;

interface Made {
  readonly line: Line;
  readonly attack: PeerAttack;
}

export interface PeerReport {
  readonly attacks: number;
  /** Kinds of answers, and blocks of code that ran. */
  readonly answers: number;
  readonly blocks: number;
  readonly kept: readonly Kept[];
  readonly findings: readonly Finding[];
}

/**
 * Attacks the peer port of a cluster: as strangers and as a member that was removed, who may change nothing; then in the
 * names of members, who may lead, but end nobody. `seconds` count from when the cluster is up. Ends at the first findings.
 * An attack with a new kind of answer, or which runs a block of code for the first time, is kept and changed further.
 */
export async function fuzzPeers(seed: number, seconds: number, saved: readonly Kept[]): Promise<PeerReport> {
  const prng = new Prng(seed).fork('peers');
  await using cluster = await PeerCluster.start(seed);
  const crashed = (error: Error): void => cluster.fault(`a member ends: ${error.stack}`);
  process.on('uncaughtException', crashed);
  const findings: Finding[] = [];
  const answers = new Set<string>();
  const frames = [...keptFrames(saved)];
  const kept: Kept[] = [];
  let attacks = 0;
  let sent: Buffer[] = [];
  const found = (what: string): void =>
    void findings.push({ target: 'peers', what: `${what} (SEED=${seed})`, chunks: sent });
  const someOne = (outside: boolean): Made => {
    const to = prng.pick(MEMBERS);
    const names = outside ? [STRANGER, REMOVED, 0n] : MEMBERS.filter((id) => id !== to);
    const { term } = cluster.at(to).member.member.cluster;
    const line = { clusterId: CLUSTER, from: prng.pick(names), to, term };
    return { line, attack: someAttack(prng, line, frames) };
  };
  const playOne = ({ line, attack }: Made): Promise<Outcome> => play(attack, cluster.at(line.to).port, line);
  await using coverage = await Coverage.start(/packages\/(peer|member|election|raft-ts|protobuf)\//);
  try {
    await cluster.remove(REMOVED);
    const before = await cluster.agreed();
    await coverage.fresh();
    const rssBytes = process.memoryUsage.rss();
    const endMs = performance.now() + 1000 * seconds;
    const outsideMs = performance.now() + 1000 * OUTSIDE_SHARE * seconds;
    while (performance.now() < endMs && findings.length === 0) {
      const outside = performance.now() < outsideMs;
      sent = [];
      for (let group = 0; group < GROUPS; group += 1) {
        const made = Array.from({ length: GROUP }, () => someOne(outside));
        const outcomes = await Promise.all(made.map(playOne));
        attacks += made.length;
        sent.push(...outcomes.flatMap((outcome) => outcome.sent));
        const blocks = new Set(await coverage.fresh());
        for (const [at, { answer }] of outcomes.entries()) {
          const named = `${outside ? 'outside' : 'member'} ${answer}`;
          let isNew = !answers.has(named);
          answers.add(named);
          // One of the group has run these blocks. Alone it may do so again.
          if (!isNew && blocks.size > 0) {
            sent.push(...(await playOne(made[at]!)).sent);
            isNew = (await coverage.found(blocks)) > 0;
          }
          const { attack } = made[at]!;
          if (!isNew || attack.kind === 'follow' || frames.length >= KEPT_MAX) continue;
          frames.push([...attack.frames]);
          kept.push(keptOf(attack));
        }
      }
      for (const fault of cluster.faults) found(fault);
      const grown = process.memoryUsage.rss() - rssBytes;
      if (grown > GROWTH_MAX_BYTES) found(`the process has grown by ${grown} bytes`);
      if (!outside || findings.length > 0) continue;
      const askedMs = performance.now();
      await cluster.put(MEMBERS[attacks % MEMBERS.length]!, `k${attacks}`);
      const tookMs = performance.now() - askedMs;
      if (tookMs > ANSWER_MS_MAX) found(`a put took ${Math.round(tookMs)} ms`);
      for (const id of MEMBERS) {
        const { term, leaderId } = cluster.at(id).member.member.cluster;
        if (term !== before.term || leaderId !== before.leader)
          found(`member ${id} has term ${term}, leader ${leaderId}`);
        if (await cluster.has(id, 'evil')) found(`member ${id} has a key of an attacker`);
      }
    }
  } finally {
    process.off('uncaughtException', crashed);
  }
  return { attacks, answers: answers.size, blocks: coverage.blocks, kept, findings };
}
