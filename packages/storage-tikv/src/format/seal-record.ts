import { crcOf } from './value-crc.ts';
import { epoch, joinU64, type LogPosition, logPosition, NEW_LOG_SEAL, type Seal, splitU64 } from '@engram/core';
import { NewerFormat } from './batch-format.ts';
import type { Timestamp } from '@engram/tso';
import { type Chain, chainBytes, readChain } from './chain.ts';

// A seal ends a segment, and names the owner of the next one:
//
//   magic (u32), format (u16), bytes (u16), crc (u32) of all else
//   epoch, holder, opener (u64 each)
//   the position at which the next segment begins, the bytes of all records before it (u64), the chain there (16 bytes):
//   zeros if the storage that sealed could not know them
//   the birth of the epoch (u64); programs before it wrote seals without, which end here, and read seals with it

const MAGIC = 0x53474e45; // "ENGS"
const FORMAT = 1;
const BYTES_WITHOUT_BIRTH = 68;
const BYTES = 76;
const CRC_END = 12;

/** The end of the log when its own holder ended a segment. */
export interface LogMark {
  /** The position that the next record takes. */
  readonly next: LogPosition;
  readonly logBytes: number;
  readonly chain: Chain;
}

/** An epoch that took the log over. */
export interface EpochBirth {
  readonly seal: Seal;
  /** A timestamp that its holder took when it took the log over; undefined if an older program sealed. */
  readonly birth: Timestamp | undefined;
}

/** The owner of a segment. */
export interface SegmentOwner extends EpochBirth {
  /** The opened storage that appends to the segment. Of two processes that claim the same holder, at most one does. */
  readonly opener: bigint;
  /** Where the segment begins; undefined if batches unknown to the sealing storage may have come before the seal. */
  readonly begin: LogMark | undefined;
}

/** The first segment has no seal before it. */
export const FIRST_OWNER: SegmentOwner = { seal: NEW_LOG_SEAL, opener: 0n, begin: undefined, birth: undefined };

export function encodeSeal({ seal, opener, begin, birth }: SegmentOwner): Uint8Array {
  const bytes = new Uint8Array(BYTES);
  const view = new DataView(bytes.buffer);
  const setU64 = (at: number, value: bigint): void => {
    const [upper, lower] = splitU64(value);
    view.setUint32(at, lower, true);
    view.setUint32(at + 4, upper, true);
  };
  view.setUint32(0, MAGIC, true);
  view.setUint16(4, FORMAT, true);
  view.setUint16(6, BYTES, true);
  setU64(12, BigInt(seal.epoch));
  setU64(20, seal.holder);
  setU64(28, opener);
  if (begin !== undefined) {
    setU64(36, BigInt(begin.next));
    setU64(44, BigInt(begin.logBytes));
    bytes.set(chainBytes(begin.chain), 52);
  }
  setU64(68, birth ?? 0n);
  view.setUint32(8, crcOf(bytes), true);
  return bytes;
}

/** Undefined if the seal is damaged. Throws NewerFormat. */
export function decodeSeal(bytes: Uint8Array): SegmentOwner | undefined {
  if (bytes.length < CRC_END) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== MAGIC || view.getUint32(8, true) !== crcOf(bytes)) return undefined;
  const format = view.getUint16(4, true);
  if (format > FORMAT) throw new NewerFormat(`a seal has format ${format}, and ${FORMAT} is the newest known`);
  if (bytes.length < BYTES_WITHOUT_BIRTH) return undefined;
  const u64 = (at: number): bigint => joinU64(view.getUint32(at + 4, true), view.getUint32(at, true));
  const [sealed, next, logBytes] = [u64(12), u64(36), u64(44)].map(Number);
  if (![sealed, next, logBytes].every(Number.isSafeInteger)) return undefined;
  const chain = readChain(bytes, 52);
  const birth = bytes.length < BYTES ? 0n : u64(68);
  return {
    seal: { epoch: epoch(sealed!), holder: u64(20) },
    opener: u64(28),
    begin: next === 0 ? undefined : { next: logPosition(next!), logBytes: logBytes!, chain },
    birth: birth === 0n ? undefined : birth,
  };
}
