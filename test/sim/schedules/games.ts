import { logPosition, type Seal, sameSeal } from '@engram/core';
import { ElectionError, type RaftBatch } from '@engram/election';
import { term } from '@engram/raft-ts';
import {
  type AppendOutcome,
  type ImagePart,
  type LogBatch,
  StorageFencedError,
  StorageTrimmedError,
  StorageUnavailableError,
} from '@engram/storage';
import { expectThat } from '../judge/finding.ts';
import { batchAt, type Board, isRaftSave, type Player, sealOf } from './board.ts';
import type { Game, Move } from './explore.ts';

const never = new AbortController().signal;
const FIRST = sealOf(2, 1n);
const SECOND = sealOf(3, 2n);
const FIRST_BATCHES = 3;

/** The first player holds the log, with some batches of one segment each. */
async function held(board: Board, ...others: readonly bigint[]): Promise<readonly Player[]> {
  const leader = await board.join('leader', 1n);
  await leader.storage.log.seal(FIRST);
  for (let at = 1; at <= FIRST_BATCHES; at += 1) await leader.storage.log.append(batchAt(at, 'first'), FIRST);
  const players = [leader];
  for (const member of others) players.push(await board.join(`member ${member}`, member));
  return players;
}

/** What an outcome says must be so, now and at the end of the game. */
function judgeAppend(board: Board, batch: LogBatch, seal: Seal, outcome: AppendOutcome): void {
  const there = board.has(batch, seal);
  const trimmed = board.storesLog.root?.trimmed ?? 1;
  if (outcome.kind === 'committed')
    expectThat(there, 'answer', () => `the append at ${batch.first} is committed, and not in the log`);
  if (outcome.kind === 'fenced')
    expectThat(!there, 'answer', () => `the append at ${batch.first} is fenced, and in the log`);
  if (outcome.kind === 'trimmed')
    expectThat(
      batch.first < trimmed,
      'answer',
      () => `the append at ${batch.first} is trimmed, and the log is from ${trimmed} on`,
    );
}

/** Appends as the queue of a leader does: an uncertain append is repeated until it is settled. */
async function append(board: Board, player: Player, seal: Seal, first: number, count: number): Promise<void> {
  for (let at = first; at < first + count; at += 1) {
    const batch = batchAt(at, player.name);
    let outcome = await player.storage.log.append(batch, seal);
    while (outcome.kind === 'uncertain') outcome = await player.storage.log.append(batch, seal);
    judgeAppend(board, batch, seal, outcome);
    if (outcome.kind !== 'committed') return;
  }
}

/** Seals, reads everything, and appends as the new leader. */
async function takeOver(board: Board, player: Player, seal: Seal, count = 1): Promise<void> {
  const { log } = player.storage;
  let next: number;
  try {
    next = await log.seal(seal);
  } catch (error) {
    if (error instanceof StorageFencedError || error instanceof StorageUnavailableError) return;
    throw error;
  }
  const isEnd = board.ends.some((end) => sameSeal(end.seal, seal) && end.next === next);
  expectThat(isEnd, 'answer', () => `the log is taken over at ${next}, and did not end there when it was sealed`);
  await readAll(board, player, next);
  await append(board, player, seal, next, count);
}

/** Takes over, and trims all segments that the leader before may still write into. */
async function takeOverAndTrim(board: Board, player: Player): Promise<void> {
  await takeOver(board, player, SECOND, 4);
  await imageAndTrim(board, player, SECOND, board.next);
}

/** What is read is what is in the log. */
async function readAll(board: Board, player: Player, end: number): Promise<void> {
  const from = board.storesLog.root?.trimmed ?? logPosition(1);
  let at: number = from;
  try {
    for await (const { first, records } of player.storage.log.read(from, never)) {
      expectThat(first === at, 'answer', () => `read ${first} where ${at} comes`);
      at = first + records.length;
      const there = board.log.find(({ batch }) => batch.first === first)?.batch;
      expectThat(
        there !== undefined && Buffer.compare(there.records[0]!, records[0]!) === 0,
        'answer',
        () => `record ${first} is not what is in the log`,
      );
    }
  } catch (error) {
    if (error instanceof StorageTrimmedError) return;
    throw error;
  }
  expectThat(at >= end, 'answer', () => `read to ${at}, and the log ended at ${end}`);
}

/** Writes an image of everything before `from`, and trims. Who was deposed before this publishes nothing. */
async function imageAndTrim(board: Board, player: Player, seal: Seal, from: number): Promise<void> {
  const { image } = player.storage;
  const parts = async function* (): AsyncGenerator<ImagePart> {
    yield { kind: 'chunk', bytes: Uint8Array.of(from) };
    const positions = Array.from({ length: from - 1 }, (_, at) => logPosition(at + 1));
    yield { kind: 'page', positions, records: positions.map((position) => batchAt(position, 'first').records[0]!) };
  };
  try {
    await image.need(logPosition(from), never);
    const deposed = board.storesLog.sealed.epoch > seal.epoch;
    if ((await image.save(logPosition(from), parts, never)) !== 'published') return;
    expectThat(!deposed, 'answer', () => `an image is published by epoch ${seal.epoch}, which was deposed before`);
    await image.trim(never);
  } catch (error) {
    if (!(error instanceof StorageUnavailableError)) throw error;
  }
}

/** Asks as a round of reads does. True proves that nobody had committed behind this seal before the call. */
async function confirm(board: Board, player: Player, seal: Seal, times: number): Promise<void> {
  for (let left = times; left > 0; left -= 1) {
    const later = board.log.some(({ seal: by }) => by.epoch > seal.epoch);
    const holds = await player.storage.log.heldBy(seal, never);
    expectThat(!(holds && later), 'answer', () => `epoch ${seal.epoch} holds the log, and a later one has written`);
  }
}

const vote = (number: number): RaftBatch => ({
  hardState: { term: term(number), vote: undefined, commit: 0 as never },
  snapshot: undefined,
  entries: [],
});

const game = (name: string, set: (board: Board) => Promise<readonly Move[]>): Game => ({ name, set });
const move = (player: Player, play: () => Promise<void>): Move => ({ player, play });

/** The games of two and three processes that are explored. */
export const games: readonly Game[] = [
  game('append and roll | takeover', async (board) => {
    const [leader, next] = await held(board, 2n);
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 2)),
      move(next!, () => takeOver(board, next!, SECOND)),
    ];
  }),
  game('append without an answer, and another | takeover', async (board) => {
    const [leader, next] = await held(board, 2n);
    board.loseWrite(leader!, 'answer');
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 2)),
      move(next!, () => takeOver(board, next!, SECOND)),
    ];
  }),
  game('append without an answer | takeover, image and trim', async (board) => {
    const [leader, next] = await held(board, 2n);
    board.loseWrite(leader!, 'answer');
    await board.passOver(next!);
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 1)),
      move(next!, () => takeOverAndTrim(board, next!)),
    ];
  }),
  game('append that is lost | takeover, image and trim', async (board) => {
    const [leader, next] = await held(board, 2n);
    board.loseWrite(leader!, 'request');
    await board.passOver(next!);
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 1)),
      move(next!, () => takeOverAndTrim(board, next!)),
    ];
  }),
  game('append | takeover, image and trim', async (board) => {
    const [leader, next] = await held(board, 2n);
    await board.passOver(next!);
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 2)),
      move(next!, () => takeOverAndTrim(board, next!)),
    ];
  }),
  game('read confirmation | takeover', async (board) => {
    const [leader, next] = await held(board, 2n);
    return [move(leader!, () => confirm(board, leader!, FIRST, 3)), move(next!, () => takeOver(board, next!, SECOND))];
  }),
  game('append | takeover | takeover', async (board) => {
    const [leader, second, third] = await held(board, 2n, 3n);
    return [
      move(leader!, () => append(board, leader!, FIRST, FIRST_BATCHES + 1, 1)),
      move(second!, () => takeOver(board, second!, SECOND)),
      move(third!, () => takeOver(board, third!, sealOf(4, 3n))),
    ];
  }),
  game('image and trim | takeover, image and trim', async (board) => {
    const [leader, next] = await held(board, 2n);
    return [
      move(leader!, () => imageAndTrim(board, leader!, FIRST, FIRST_BATCHES + 1)),
      move(next!, async () => {
        await takeOver(board, next!, SECOND);
        await imageAndTrim(board, next!, SECOND, FIRST_BATCHES);
      }),
    ];
  }),
  game('trim | a member that reads', async (board) => {
    const [leader, reader] = await held(board, 2n);
    await reader!.storage.image.need(logPosition(2), never);
    return [
      move(leader!, () => imageAndTrim(board, leader!, FIRST, FIRST_BATCHES)),
      move(reader!, async () => {
        const seen: number[] = [];
        // It has said that it reads from here on, and is not silent: nothing of this may be gone.
        for await (const { first } of reader!.storage.log.read(logPosition(2), never)) seen.push(first);
        expectThat(seen.join() === '2,3', 'answer', () => `read ${seen.join()}`);
      }),
    ];
  }),
  game('image and trim | a member that is replaced', async (board) => {
    const [leader, member] = await held(board, 2n);
    return [
      move(leader!, () => imageAndTrim(board, leader!, FIRST, FIRST_BATCHES + 1)),
      move(member!, async () => {
        const storage = await board.open(member!, 2n);
        const { from = logPosition(1) } = await storage.image.status(never);
        let at: number = from;
        for await (const { first, records } of storage.log.read(from, never)) {
          expectThat(first === at, 'answer', () => `read ${first} where ${at} comes`);
          at = first + records.length;
        }
        expectThat(at === FIRST_BATCHES + 1, 'answer', () => `the log is read to ${at}`);
      }),
    ];
  }),
  game('takeover | the same takeover by another process', async (board) => {
    const [, one] = await held(board, 2n);
    const other = await board.join('member 2 again', 2n);
    return [move(one!, () => takeOver(board, one!, SECOND)), move(other, () => takeOver(board, other, SECOND))];
  }),
  game('takeover | image and trim of the leader before', async (board) => {
    const [leader, next] = await held(board, 2n);
    return [
      move(next!, () => takeOver(board, next!, SECOND)),
      move(leader!, () => imageAndTrim(board, leader!, FIRST, FIRST_BATCHES + 1)),
    ];
  }),
  game('Raft save that is lost | takeover', async (board) => {
    const [one, next] = await held(board, 2n);
    const raft = board.raft(one!, 1n);
    await raft.load();
    await raft.save(vote(1));
    board.loseWrite(one!, 'request', isRaftSave);
    return [
      move(one!, async () => {
        await raft.save(vote(2));
        const again = await board.raft(one!, 1n).load();
        expectThat(again?.hardState.term === 2, 'answer', () => 'a vote is forgotten that was saved');
      }),
      move(next!, () => takeOver(board, next!, SECOND)),
    ];
  }),
  game('Raft save | member replacement and save', async (board) => {
    const [one] = await held(board);
    const two = await board.join('replacement', 1n);
    const [before, after] = [board.raft(one!, 1n), board.raft(two, 1n)];
    await before.load();
    await before.save(vote(1));
    let loaded = false;
    return [
      move(one!, async () => {
        for (const number of [2, 3]) {
          const late = loaded;
          try {
            await before.save(vote(number));
            expectThat(!late, 'answer', () => `term ${number} is saved by a process that was replaced`);
          } catch (error) {
            if (error instanceof ElectionError && error.code === 'storage-taken-over') return;
            throw error;
          }
        }
      }),
      move(two, async () => {
        const state = await after.load();
        loaded = true;
        expectThat((state?.hardState.term ?? 0) >= 1, 'answer', () => 'a vote is forgotten');
        await after.save(vote((state?.hardState.term ?? 0) + 5));
        const again = await board.raft(two, 1n).load();
        expectThat(again?.hardState.term === (state?.hardState.term ?? 0) + 5, 'answer', () => 'a vote is overwritten');
      }),
    ];
  }),
];
