import type { Profiler } from 'node:inspector';
import type { Loop, PureJob } from '@engram/loop';
import { type CallNode, type Frame, PprofBuilder } from './pprof-builder.ts';

/** Nodes or samples between two questions to the loop. */
const STEPS_EACH = 100;
/** V8's name of the time in which the thread did nothing: it is no CPU time. */
const IDLE = '(idle)';

/**
 * V8's profile of the CPU as one of pprof: each sample counts for the time until the next one. `intervalUs` is what V8 was asked for,
 * `startMs` when it began, since 1970.
 */
export function* cpuPprof(
  { nodes, samples = [], timeDeltas = [], startTime, endTime }: Profiler.Profile,
  intervalUs: number,
  startMs: number,
  loop: Loop,
): PureJob<Uint8Array> {
  const builder = new PprofBuilder();
  const byId = yield* callNodes(nodes, loop);
  const spent = new Map<number, { count: number; us: number }>();
  let passedUs = timeDeltas[0] ?? 0;
  for (const [at, id] of samples.entries()) {
    const next = timeDeltas[at + 1] ?? endTime - startTime - passedUs;
    passedUs += next;
    const sum = spent.get(id) ?? { count: 0, us: 0 };
    spent.set(id, { count: sum.count + 1, us: sum.us + Math.max(0, next) });
    if (loop.shouldYield(1)) yield;
  }
  for (const [id, { count, us }] of spent) {
    const leaf = byId.get(id);
    if (leaf === undefined || leaf.parent === undefined || leaf.frame.functionName === IDLE) continue;
    builder.add(leaf, [count, us * 1000]);
    if (loop.shouldYield(STEPS_EACH)) yield;
  }
  return yield* builder.encoding(
    {
      kinds: [
        { type: 'samples', unit: 'count' },
        { type: 'cpu', unit: 'nanoseconds' },
      ],
      period: { type: 'cpu', unit: 'nanoseconds' },
      periodValue: intervalUs * 1000,
      startMs,
      durationMs: (endTime - startTime) / 1000,
    },
    loop,
  );
}

function* callNodes(nodes: readonly Profiler.ProfileNode[], loop: Loop): PureJob<ReadonlyMap<number, CallNode>> {
  const parents = new Map<number, number>();
  for (const { id, children = [] } of nodes) {
    for (const child of children) parents.set(child, id);
    if (loop.shouldYield(1)) yield;
  }
  // Parents come before their children.
  const made = new Map<number, CallNode>();
  for (const { id, callFrame } of nodes) {
    const parent = parents.get(id);
    made.set(id, { id, frame: callFrame, parent: parent === undefined ? undefined : made.get(parent) });
    if (loop.shouldYield(1)) yield;
  }
  return made;
}

/** V8's, as far as it is read here. Node's types have not all of it. */
export interface HeapProfile {
  readonly head: HeapNode;
  readonly samples: readonly { readonly nodeId: number; readonly size: number }[];
}

export interface HeapNode {
  readonly id: number;
  readonly callFrame: Frame;
  readonly children: readonly HeapNode[];
}

export const isHeapProfile = (profile: object): profile is HeapProfile =>
  'head' in profile && 'samples' in profile && Array.isArray(profile.samples);

/**
 * V8's samples of living objects as a profile of pprof: how many there are, and their bytes. One object in about `intervalBytes` was
 * sampled; each stands for as many as its size makes likely, as in Go (runtime/pprof: scaleHeapSample).
 */
export function* heapPprof(
  { head, samples }: HeapProfile,
  intervalBytes: number,
  nowMs: number,
  loop: Loop,
): PureJob<Uint8Array> {
  const builder = new PprofBuilder();
  const held = new Map<number, { objects: number; bytes: number }>();
  for (const { nodeId, size } of samples) {
    const objects = 1 / (1 - Math.exp(-size / intervalBytes));
    const sum = held.get(nodeId) ?? { objects: 0, bytes: 0 };
    held.set(nodeId, { objects: sum.objects + objects, bytes: sum.bytes + objects * size });
    if (loop.shouldYield(1)) yield;
  }
  const open: (readonly [node: HeapNode, parent: CallNode | undefined])[] = [[head, undefined]];
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const [{ id, callFrame, children }, parent] = next;
    const node: CallNode = { id, frame: callFrame, parent };
    const sum = held.get(id);
    if (sum !== undefined && parent !== undefined) builder.add(node, [Math.round(sum.objects), Math.round(sum.bytes)]);
    for (const child of children) open.push([child, node]);
    if (loop.shouldYield(1)) yield;
  }
  return yield* builder.encoding(
    {
      kinds: [
        { type: 'inuse_objects', unit: 'count' },
        { type: 'inuse_space', unit: 'bytes' },
      ],
      period: { type: 'space', unit: 'bytes' },
      periodValue: intervalBytes,
      startMs: nowMs,
      durationMs: 0,
    },
    loop,
  );
}
