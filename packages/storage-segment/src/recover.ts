import { join } from 'node:path';
import type { Condition } from './disk/condition.ts';
import type { DeadRecords } from './format/dead-records.ts';
import { type DataFile, fileName, filePath, parseFileName } from './disk/file-names.ts';
import type { FileSystem, StorageFile } from './disk/file-system.ts';
import { decodeSegmentHeader, SEGMENT_HEADER_BYTES, type SegmentHeader } from './format/layout.ts';
import { type Manifest, type ManifestState, removedWrite, type SegmentNote } from './manifest/manifest.ts';
import { type Scan, scanSegment } from './format/scan-segment.ts';
import { Segment } from './segments/segment.ts';
import { readSidecar } from './segments/sidecar.ts';

/** Tables read at a time. */
const LOADS_MAX = 4;

export interface Recovered {
  /** The segments with records, by position. Of those that are not sealed, only the last is appended to. */
  readonly segments: readonly Segment[];
  /** The segments without records, in the order in which they come next. */
  readonly empty: readonly Segment[];
  /** Above every id in use. */
  readonly nextId: number;
}

/**
 * Opens all segments that the manifest names and cuts off a torn end. Removes files that belong to nothing, once
 * everything expected was found. A file that looks like a segment the manifest has lost is damage.
 */
export async function recoverSegments(
  fileSystem: FileSystem,
  condition: Condition,
  manifest: Manifest,
  state: ManifestState,
  /** Records before this position were acknowledged: none of them is taken for torn. 0 if unknown. */
  acknowledgedEnd: number,
): Promise<Recovered> {
  const names = await fileSystem.list(condition.path);
  const files = names.map(parseFileName).filter((file) => file !== undefined);
  const opened: Segment[] = [];
  try {
    const sealed = await loadSealed(fileSystem, condition, state, opened);
    const open = await loadOpen(fileSystem, condition, state, opened, acknowledgedEnd);
    const segments = [...sealed, ...open.filter((segment) => segment.table.count > 0)];
    segments.sort((left, right) => left.table.first - right.table.first);
    checkOrder(condition, segments, state.checkpoint?.from ?? state.begin);
    await removeLeftovers(fileSystem, condition, manifest, state, files);
    const empty = open.filter((segment) => segment.table.count === 0);
    const ids = [...files, ...state.segments, { id: 0 }].map(({ id }) => id);
    return { segments, empty, nextId: Math.max(...ids, ...state.removing) + 1 };
  } catch (error) {
    for (const segment of opened) await segment.close().catch(() => {});
    throw error;
  }
}

async function loadSealed(
  fileSystem: FileSystem,
  condition: Condition,
  state: ManifestState,
  opened: Segment[],
): Promise<Segment[]> {
  const notes = state.segments.filter(({ sealed }) => sealed !== undefined);
  const segments: Segment[] = [];
  let taken = 0;
  const load = async (): Promise<void> => {
    for (let note = notes[taken]; note !== undefined; note = notes[taken]) {
      taken += 1;
      const segment = await loadSegment(fileSystem, condition, note, state.dead.get(note.id), 'read');
      opened.push(segment);
      segments.push(segment);
    }
  };
  const loads = await Promise.allSettled(Array.from({ length: LOADS_MAX }, load));
  for (const loaded of loads) if (loaded.status === 'rejected') throw loaded.reason;
  return segments;
}

/** The segments that may still be appended to, in order. */
async function loadOpen(
  fileSystem: FileSystem,
  condition: Condition,
  state: ManifestState,
  opened: Segment[],
  acknowledgedEnd: number,
): Promise<Segment[]> {
  const notes = state.segments.filter(({ sealed }) => sealed === undefined).sort((left, right) => left.id - right.id);
  const scanned: { readonly segment: Segment; readonly scan: Scan; readonly size: number }[] = [];
  for (const { id } of notes) {
    const name = fileName('seg', id);
    const file = await openFile(fileSystem, condition, id, 'durable');
    const { header, size } = await readHeader(condition, file, id, 'appended').catch(closing(file));
    const scan = await condition.reading(name, () => scanSegment(file, header, size)).catch(closing(file));
    const { table, chain } = scan;
    const segment = new Segment({ header, table, file, sealed: false, chain, dead: state.dead.get(id) });
    opened.push(segment);
    scanned.push({ segment, scan, size });
  }
  const last = scanned.findLastIndex(({ scan }) => scan.table.count > 0 || scan.rest.kind !== 'clean');
  for (const { segment, scan } of scanned.slice(0, Math.max(0, last))) checkComplete(condition, segment, scan);
  const tail = scanned[last];
  if (tail !== undefined) checkDamage(condition, tail.segment, tail.scan);
  checkEnd(condition, state, scanned, acknowledgedEnd);
  if (tail !== undefined) await settleEnd(condition, tail.segment, tail.scan, tail.size);
  return scanned.map(({ segment }) => segment);
}

function checkComplete(condition: Condition, segment: Segment, { rest, table }: Scan): void {
  const name = fileName('seg', segment.id);
  if (rest.kind === 'clean' && table.count > 0) return;
  const what = rest.kind === 'damaged' ? rest.what : `it ends at ${table.end} with something that is no frame`;
  const where = table.count === 0 ? 'before its first record' : `behind record ${table.next - 1}`;
  throw condition.corrupt(`segment ${name} is damaged ${where}, and a later one goes on: ${what}`);
}

function checkDamage(condition: Condition, segment: Segment, { rest, table }: Scan): void {
  if (rest.kind !== 'damaged') return;
  const where = table.count === 0 ? 'before its first record' : `behind record ${table.next - 1}`;
  throw condition.corrupt(`segment ${fileName('seg', segment.id)} is damaged ${where}: ${rest.what}`);
}

/** Checks, before anything is cut off, that the log does not end before the checkpoint or the acknowledged end. */
function checkEnd(
  condition: Condition,
  { begin, segments, checkpoint }: ManifestState,
  open: readonly { readonly segment: Segment }[],
  acknowledgedEnd: number,
): void {
  const from = checkpoint?.from ?? begin;
  const last = open.findLast(({ segment }) => segment.table.count > 0)?.segment;
  // Everything before the checkpoint may have been dropped, but not from the segment that is appended to.
  const end = last?.table.next ?? Math.max(from, ...segments.map(({ sealed }) => sealed?.next ?? 0));
  const known = Math.max(from, acknowledgedEnd);
  if (end >= known) return;
  const where = last === undefined ? 'no segment has them' : `${fileName('seg', last.id)} ends at ${last.table.end}`;
  throw condition.corrupt(`the records from ${end} to ${known - 1} were acknowledged and are gone: ${where}`);
}

/** Settles the end of the log: cuts off a torn append, and makes the last whole frame durable. */
async function settleEnd(
  { path, logger }: Condition,
  segment: Segment,
  { rest, table, lastFrame }: Scan,
  size: number,
): Promise<void> {
  if (rest.kind === 'torn') {
    const file = fileName('seg', segment.id);
    logger.warn({ path, file, offset: table.end, bytes: size - table.end }, 'cut off an append that was torn');
    await segment.file.truncate(table.end);
    await segment.file.sync();
  }
  if (lastFrame === undefined) return;
  // A failed sync may have left the frame in the system's cache only, where it no longer counts as unwritten. Only
  // writing it again is safe: the bytes that were found whole, because another read may give those of the disk.
  await segment.file.write(lastFrame.bytes, lastFrame.offset);
  await segment.file.sync();
}

async function loadSegment(
  fileSystem: FileSystem,
  condition: Condition,
  { id, kind, sealed }: SegmentNote,
  dead: DeadRecords | undefined,
  mode: 'read',
): Promise<Segment> {
  const name = fileName('seg', id);
  const file = await openFile(fileSystem, condition, id, mode);
  try {
    const { header, size } = await readHeader(condition, file, id, kind);
    if (size < sealed!.bytes) {
      throw condition.corrupt(`segment ${name} has ${size} bytes of the ${sealed!.bytes} that were written`);
    }
    const saved = await readSidecar(fileSystem, condition, header, sealed!);
    if (saved !== undefined) return new Segment({ header, ...saved, file, sealed: true, dead });
    const scan = await condition.reading(name, () => scanSegment(file, header, size));
    const { table, rest, chain } = scan;
    const whole = rest.kind === 'clean' && table.count === sealed!.records && table.end === sealed!.bytes;
    if (!whole || table.first !== sealed!.first || table.next !== sealed!.next) {
      const what = rest.kind === 'damaged' ? rest.what : `there is no whole frame at ${table.end}`;
      throw condition.corrupt(`segment ${name} with the records from ${sealed!.first} is damaged: ${what}`);
    }
    table.seal();
    return new Segment({ header, table, chain, file, sealed: true, dead });
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function openFile(
  fileSystem: FileSystem,
  condition: Condition,
  id: number,
  mode: 'read' | 'durable',
): Promise<StorageFile> {
  return await condition.reading(fileName('seg', id), () => fileSystem.open(filePath(condition.path, 'seg', id), mode));
}

async function readHeader(
  condition: Condition,
  file: StorageFile,
  id: number,
  kind: SegmentNote['kind'],
): Promise<{ readonly header: SegmentHeader; readonly size: number }> {
  const name = fileName('seg', id);
  const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
  const size = await condition.reading(name, async () => {
    await file.read(bytes, 0);
    return await file.size();
  });
  const header = decodeSegmentHeader(bytes);
  if (header === undefined || header.id !== id || header.kind !== kind) {
    throw condition.corrupt(`the header of segment ${name} is damaged`);
  }
  return { header, size };
}

function closing(file: StorageFile): (error: unknown) => Promise<never> {
  return async (error) => {
    await file.close();
    throw error;
  };
}

/** Checks that a replay finds all its records without a gap, and that no record is there twice. */
function checkOrder(condition: Condition, segments: readonly Segment[], from: number): void {
  let next = 0;
  for (const segment of segments) {
    const { first } = segment.table;
    const name = fileName('seg', segment.id);
    if (first < next) throw condition.corrupt(`record ${first} is in segment ${name} and in one before it`);
    if (first > next && first > from) {
      const missing = Math.max(next, from);
      throw condition.corrupt(`the records from ${missing} to ${first - 1}, before segment ${name}, are missing`);
    }
    next = segment.table.next;
  }
}

async function removeLeftovers(
  fileSystem: FileSystem,
  condition: Condition,
  manifest: Manifest,
  state: ManifestState,
  files: readonly DataFile[],
): Promise<void> {
  const live = new Set(state.segments.map(({ id }) => id));
  const removing = new Set(state.removing);
  const gone: string[] = [];
  for (const { kind, id } of files) {
    if (kind === 'ckpt' ? id === state.checkpoint?.id : kind !== 'tmp' && live.has(id)) continue;
    if (kind === 'seg' && !removing.has(id)) await checkLeftover(fileSystem, condition, id);
    gone.push(fileName(kind, id));
  }
  for (const name of gone) {
    condition.logger.info({ path: condition.path, file: name }, 'removed a file that was left over');
    await fileSystem.remove(join(condition.path, name));
  }
  // Files that the previous process removed must also be durably gone before the manifest forgets them.
  if (gone.length > 0 || removing.size > 0) await fileSystem.syncDirectory(condition.path);
  if (removing.size > 0) await manifest.change(() => state.removing.map(removedWrite));
}

/** A segment that the manifest does not know was created but not yet recorded: then nothing was appended to it. */
async function checkLeftover(fileSystem: FileSystem, condition: Condition, id: number): Promise<void> {
  const name = fileName('seg', id);
  const file = await openFile(fileSystem, condition, id, 'read');
  try {
    const bytes = new Uint8Array(SEGMENT_HEADER_BYTES);
    await condition.reading(name, () => file.read(bytes, 0));
    const header = decodeSegmentHeader(bytes);
    if (header?.kind === 'cleaned') return;
    const scan = header && (await condition.reading(name, async () => scanSegment(file, header, await file.size())));
    if (scan?.table.count === 0 && scan.rest.kind === 'clean') return;
    throw condition.corrupt(`the manifest does not know segment ${name}, and it is not empty`);
  } finally {
    await file.close();
  }
}
