import { Prng } from '@engram/sim';
import { describe, expect, test } from 'vitest';
import {
  confState,
  decodeMessage,
  encodeMessage,
  type Entry,
  logIndex,
  type LogIndex,
  type Message,
  nodeId,
  RaftError,
  type Term,
  term,
} from '@engram/raft-ts';
import { Group, ids, type TestNode } from './support/group.ts';

const RUNS = Number(process.env['RUNS'] ?? 60);
const SEED = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 30));
const STEPS = 150;

/** Makes messages of every type that a member could send, most of them with numbers near those of the receiver. */
class Liar {
  readonly #prng: Prng;
  readonly #node: TestNode;

  constructor(prng: Prng, node: TestNode) {
    this.#prng = prng;
    this.#node = node;
  }

  message(): Message {
    const { id: to, term: own } = this.#node.status;
    const from = nodeId(BigInt(1 + this.#prng.below(5)));
    const head = { from, to, term: this.#term(own) };
    const committed = { index: this.#index(), term: this.#term(own) };
    const place = { lastIndex: this.#index(), lastTerm: this.#term(own), transfer: this.#prng.chance(0.5), committed };
    const granted = this.#prng.chance(0.7);
    const prevIndex = this.#index();
    const messages: readonly (() => Message)[] = [
      () => ({ ...head, type: 'vote', ...place }),
      () => ({ ...head, type: 'pre-vote', ...place }),
      () => ({ ...head, type: 'vote-response', granted, committed }),
      () => ({ ...head, type: 'pre-vote-response', granted, committed }),
      () => ({
        ...head,
        type: 'append',
        prevIndex,
        prevTerm: this.#prevTerm(prevIndex),
        entries: this.#entries(prevIndex, head.term),
        commit: this.#index(),
      }),
      () => ({
        ...head,
        type: 'append-response',
        index: this.#index(),
        rejection: this.#prng.chance(0.5) ? committed : undefined,
      }),
      () => ({ ...head, type: 'heartbeat', commit: this.#index(), readRound: this.#prng.below(5) }),
      () => ({ ...head, type: 'heartbeat-response', readRound: this.#prng.below(5) }),
      () => ({
        ...head,
        type: 'snapshot',
        snapshot: {
          index: this.#index(),
          term: this.#term(own),
          conf: confState(ids(1, 2, 3)),
          data: new Uint8Array(0),
        },
      }),
      () => ({ ...head, type: 'timeout-now' }),
      () => ({ from, to, type: 'propose', payloads: [{ kind: 'normal', data: Uint8Array.of(1) }] }),
      () => ({ from, to, type: 'propose', payloads: [{ kind: 'conf-change', change: this.#change() }] }),
      () => ({ from, to, type: 'transfer-leader', target: nodeId(BigInt(1 + this.#prng.below(5))) }),
    ];
    return messages[this.#prng.below(messages.length)]!();
  }

  #change() {
    const kinds = ['add-voter', 'add-learner', 'remove', 'update'] as const;
    const node = nodeId(BigInt(1 + this.#prng.below(5)));
    return { kind: kinds[this.#prng.below(4)]!, node, context: new Uint8Array(0) };
  }

  #entries(prevIndex: LogIndex, of: Term): readonly Entry[] {
    return Array.from({ length: this.#prng.below(4) }, (_, at): Entry => {
      const index = logIndex(prevIndex + 1 + at);
      if (this.#prng.chance(0.3)) return { kind: 'conf-change', term: of, index, change: this.#change() };
      return { kind: 'normal', term: of, index, data: Uint8Array.of(7) };
    });
  }

  #index(): LogIndex {
    const { lastIndex, commit } = this.#node.status;
    const near = [0, 1, commit - 1, commit, commit + 1, lastIndex - 1, lastIndex, lastIndex + 1, lastIndex + 9];
    if (this.#prng.chance(0.1)) return logIndex([2 ** 32, 2 ** 52, 2 ** 53 - 1][this.#prng.below(3)]!);
    return logIndex(Math.max(0, near[this.#prng.below(near.length)]!));
  }

  #term(own: Term): Term {
    if (this.#prng.chance(0.05)) return term([2 ** 31, 2 ** 40, 2 ** 53 - 1][this.#prng.below(3)]!);
    return term(Math.max(1, own + this.#prng.below(4) - 2));
  }

  /** Mostly the true one, so that the append is taken. */
  #prevTerm(index: LogIndex): Term {
    const known = this.#node.storage.term(index);
    return known !== undefined && this.#prng.chance(0.8) ? known : this.#term(this.#node.status.term);
  }
}

describe('a member that sends what it likes', () => {
  test.each(Array.from({ length: RUNS }, (_, run) => SEED + run))(
    'breaks no invariant of the others (SEED=%d)',
    (seed) => {
      const prng = new Prng(seed);
      const group = Group.of(3);
      group.elect(1);
      let taken = 0;
      for (let step = 0; step < STEPS; step += 1) {
        const node = [...group.nodes.values()][prng.below(3)]!;
        let message: Message;
        try {
          message = decodeMessage(encodeMessage(new Liar(prng, node).message()));
        } catch (error) {
          if (error instanceof RaftError && error.code === 'bad-bytes') continue;
          throw error;
        }
        if (node.raw.step(message) === undefined) taken += 1;
        for (const each of group.nodes.values()) {
          if (prng.chance(0.3)) each.raw.tick();
          if (prng.chance(0.8)) for (const sent of each.settle()) group.nodes.get(sent.to)?.raw.step(sent);
        }
      }
      expect(taken).toBeGreaterThan(10);
      for (const { status } of group.nodes.values()) expect(status.term).toBeLessThan(2 ** 32 * STEPS);
    },
  );
});
