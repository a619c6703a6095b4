import type { Condition } from '../disk/condition.ts';
import { fileName } from '../disk/file-names.ts';
import { readFrameHeader } from '../format/layout.ts';
import type { Segment } from './segment.ts';

/**
 * The wall-clock mark of the last batch that is left in the log; 0 if it has none. A frame that cannot be read has no mark here:
 * nothing is decided by marks, and whoever reads the record finds the damage.
 */
export async function newestMark(condition: Condition, segments: readonly Segment[]): Promise<number> {
  const segment = segments.findLast(({ table }) => table.count > 0);
  if (segment === undefined || !segment.header.marked) return 0;
  const { table, header, file, id } = segment;
  const bytes = new Uint8Array(table.frameHeaderBytes);
  const at = table.offsetAt(table.frameStart(table.count - 1)) - bytes.length;
  await condition.reading(fileName('seg', id), () => file.read(bytes, at));
  return readFrameHeader(bytes, 0, header.salt, true)?.wallMs ?? 0;
}
