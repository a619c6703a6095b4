/** The result of the inspector's CPU profiler: a tree of call frames, and the frame that ran at each sample. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** In the order of the table. A file belongs to the first stage whose pattern matches its URL. */
export const stages: readonly (readonly [stage: string, pattern: RegExp])[] = [
  ['header blocks (HPACK)', /http2\/src\/(hpack|huffman|header)|transport\/src\/h2\/(header|request-head|routing)/],
  ['frames, flow control, batches', /http2\/src\/|transport\/src\/h2\//],
  ['gRPC calls', /transport\/src\//],
  ['protobuf', /wire\/src\//],
  ['services', /etcd-api\/src\//],
  ['sequencer', /sequencer\/src\//],
  ['index', /index\/src\//],
  ['records', /coder\/src\//],
  ['cache, ranges', /scanner\/src\//],
  ['group commit, publishing', /(backend|writer|core)\/src\//],
  ['watch hub', /watch-hub\/src\//],
  ['leases', /lease\/src\//],
  ['storage', /storage[a-z-]*\/src\/|classic-level|abstract-level/],
  ['metrics', /telemetry\/src\//],
  ['composition', /server\/src\//],
  ['node: sockets, streams, timers', /^node:/],
];

export const COLLECTOR = 'collector, on the loop';
/** Builtins that no file has called. */
const NOBODY = 'nobody';

/**
 * Microseconds on the event loop, by stage. Frames without a file (system calls, builtins) count for their caller. If
 * no file of the project is above them, the loop waits or libuv works. Samples do not distinguish the two.
 */
export function microsecondsByStage(profile: CpuProfile): Map<string, number> {
  const stageOf = stagesOfNodes(profile.nodes);
  const spent = new Map<string, number>();
  profile.samples.forEach((id, at) => {
    const stage = stageOf.get(id);
    if (stage === undefined) return;
    spent.set(stage, (spent.get(stage) ?? 0) + Math.max(0, profile.timeDeltas[at] ?? 0));
  });
  return spent;
}

/** The stage of each node. Nodes without a stage are omitted. */
function stagesOfNodes(nodes: readonly ProfileNode[]): Map<number, string> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<number, string>();
  const walk = (node: ProfileNode, inherited: string): void => {
    const { functionName, url } = node.callFrame;
    const own = functionName === '(garbage collector)' ? COLLECTOR : (stageOfFile(url) ?? inherited);
    if (own !== NOBODY) found.set(node.id, own);
    for (const child of node.children ?? []) {
      const below = byId.get(child);
      if (below !== undefined) walk(below, own);
    }
  };
  const root = nodes[0];
  if (root !== undefined) walk(root, NOBODY);
  return found;
}

function stageOfFile(url: string): string | undefined {
  return stages.find(([, pattern]) => pattern.test(url))?.[0];
}
