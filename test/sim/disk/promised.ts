import { type LogPosition, logPosition, type Seal } from '@engram/core';
import { endOf, type LogBatch, type MemoryDisk, sameBatch, type Storage } from '@engram/storage';
import { expectThat, Finding } from '../judge/finding.ts';

const never = new AbortController().signal;

/** Before each record in a file. */
const RECORD_HEADER_BYTES = 8;

interface SavedCheckpoint {
  readonly from: LogPosition;
  readonly chunks: readonly Uint8Array[];
}

/**
 * What a storage has promised: all that it has acknowledged, and all or nothing of the operations whose outcome is not
 * known. It is kept in a `MemoryDisk`, as the judge and a second node read it.
 */
export class Promised {
  readonly disk: MemoryDisk;
  /** Records that were ever dropped: whether they are there is not known. */
  readonly #dropped = new Set<number>();
  /** Of operations whose outcome is not known. A storage that has failed may be asked for more, and does none of it. */
  #appends: { readonly batch: LogBatch; readonly seal: Seal }[] = [];
  #seals: Seal[] = [];
  #checkpoint: SavedCheckpoint | undefined;

  constructor(disk: MemoryDisk) {
    this.disk = disk;
  }

  appending(batch: LogBatch, seal: Seal): void {
    this.#appends.push({ batch, seal });
  }

  appended(batch: LogBatch, seal: Seal): void {
    const { disk } = this;
    if (endOf(batch) !== disk.next || disk.last === undefined || !sameBatch(disk.last.batch, batch))
      disk.append(batch, seal);
    this.#appends = [];
  }

  /** The append under way has not happened, and never will. */
  refused(): void {
    this.#appends.pop();
  }

  sealing(seal: Seal): void {
    this.#seals.push(seal);
  }

  sealed(seal: Seal): void {
    this.disk.sealed = seal;
    this.#seals = [];
  }

  dropping(positions: readonly LogPosition[]): void {
    for (const position of positions) this.#dropped.add(position);
  }

  saving(checkpoint: SavedCheckpoint): void {
    this.#checkpoint = checkpoint;
  }

  saved(): void {
    if (this.#checkpoint === undefined) return;
    this.disk.checkpoint = this.#checkpoint;
    this.disk.makeDropsDurable();
    this.#checkpoint = undefined;
  }

  /**
   * Checks a storage that was just opened, and takes over what it has of the operations with an unknown outcome. The process
   * may end meanwhile: then the next start is checked by the same.
   */
  async check(storage: Storage): Promise<void> {
    await this.#checkSeal(storage);
    await this.#checkCheckpoint(storage);
    await this.#checkLog(storage);
    await this.#checkRecords(storage);
  }

  /** Checks that the storage counts nothing that was dropped as in use. It may free its space later. */
  checkSize({ values }: Storage): void {
    const { disk } = this;
    let bytes = 0;
    for (const chunk of disk.checkpoint?.chunks ?? []) bytes += chunk.length;
    for (let at = 1; at < disk.next; at += 1) {
      const record = disk.record(logPosition(at));
      if (record !== undefined) bytes += RECORD_HEADER_BYTES + record.length;
    }
    const { inUseBytes } = values.size();
    expectThat(inUseBytes <= bytes, 'leak', () => `${inUseBytes} bytes of the disk are in use, not ${bytes}`);
  }

  async #checkSeal({ log }: Storage): Promise<void> {
    const acknowledged = this.disk.sealed;
    for (const seal of [acknowledged, ...this.#seals]) {
      if (!(await log.heldBy(seal, never))) continue;
      this.disk.sealed = seal;
      this.#seals = [];
      return;
    }
    throw new Finding('log', `after a start the log is not held by epoch ${acknowledged.epoch}, which sealed it`);
  }

  async #checkCheckpoint({ values }: Storage): Promise<void> {
    const { disk } = this;
    const [acknowledged, underWay] = [disk.checkpoint, this.#checkpoint];
    const loaded = await values.loadCheckpoint();
    const chunks: Uint8Array[] = [];
    if (loaded !== undefined) for await (const chunk of loaded.chunks(never)) chunks.push(chunk);
    const found = loaded === undefined ? undefined : { from: loaded.from, chunks };
    if (!isSame(found, acknowledged)) {
      const taken = underWay !== undefined && isSame(found, underWay);
      expectThat(taken, 'log', () => `a checkpoint of ${found?.from}, and that of ${acknowledged?.from} was saved`);
      disk.checkpoint = underWay;
      disk.makeDropsDurable();
    }
    this.#checkpoint = undefined;
    // The drops since then may have come back.
    disk.crash();
  }

  /** Checks that a replay has every acknowledged batch, and beside these at most the one that was under way. */
  async #checkLog({ log }: Storage): Promise<void> {
    const { disk } = this;
    let position = disk.checkpoint?.from ?? logPosition(1);
    for await (const batch of log.read(position, never)) {
      if (position < disk.next) {
        const same = sameBatch(batch, disk.batch(position));
        expectThat(same, 'log', () => `the records from ${position} on are not those that were acknowledged`);
      } else {
        const append = this.#appends.find((one) => sameBatch(batch, one.batch));
        expectThat(append !== undefined, 'log', () => `records from ${batch.first} on that nobody has appended`);
        disk.append(append.batch, append.seal);
      }
      position = endOf(batch);
    }
    this.#appends = [];
    if (position === disk.next) return;
    throw new Finding('log', `the records from ${position} to ${disk.next - 1} were acknowledged, and are gone`);
  }

  /** Checks the records before the checkpoint, as far as they were never dropped. */
  async #checkRecords({ values }: Storage): Promise<void> {
    const { disk } = this;
    const positions: LogPosition[] = [];
    for (let at = 1; at < (disk.checkpoint?.from ?? 1); at += 1) {
      if (disk.has(at) && !this.#dropped.has(at)) positions.push(logPosition(at));
    }
    if (positions.length === 0) return;
    const records = await values.getMany(positions, never);
    for (const [index, position] of positions.entries()) {
      const same = Buffer.compare(records[index]!, disk.record(position)!) === 0;
      expectThat(same, 'log', () => `record ${position} is not the one that was acknowledged`);
    }
  }
}

function isSame(left: SavedCheckpoint | undefined, right: SavedCheckpoint | undefined): boolean {
  if (left === undefined || right === undefined) return left === right;
  if (left.from !== right.from || left.chunks.length !== right.chunks.length) return false;
  return left.chunks.every((chunk, index) => Buffer.compare(chunk, right.chunks[index]!) === 0);
}
