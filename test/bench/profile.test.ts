import { expect, test } from 'vitest';
import { COLLECTOR, type CpuProfile, microsecondsByStage } from '../../bench/budget/profile.ts';

const node = (id: number, functionName: string, url: string, ...children: number[]): CpuProfile['nodes'][number] => ({
  id,
  callFrame: { functionName, url },
  children,
});

test('time goes to the stage of the file, and that of builtins to whoever called them', () => {
  const profile: CpuProfile = {
    nodes: [
      node(1, '(root)', '', 2, 3, 4, 5),
      node(2, '(idle)', ''),
      node(3, '(garbage collector)', ''),
      node(4, 'onStreamRead', 'node:internal/stream_base_commons', 6),
      node(5, '(program)', ''),
      node(6, 'append', 'file:///x/packages/index/src/key-index.ts', 7),
      node(7, 'set', ''),
    ],
    samples: [2, 3, 4, 5, 6, 7, 7],
    timeDeltas: [1_000, 20, 300, 4_000, 5, 6, 7],
  };
  expect(Object.fromEntries(microsecondsByStage(profile))).toEqual({
    [COLLECTOR]: 20,
    'node: sockets, streams, timers': 300,
    index: 18,
  });
});

test.each([
  ['packages/http2/src/hpack-decoder.ts', 'header blocks (HPACK)'],
  ['packages/transport/src/h2/sender.ts', 'frames, flow control, batches'],
  ['packages/transport/src/grpc/unary-call.ts', 'gRPC calls'],
  ['packages/wire/src/messages/requests.ts', 'protobuf'],
  ['packages/storage-leveldb/src/level-log.ts', 'storage'],
  ['node_modules/classic-level/index.js', 'storage'],
  ['packages/watch-hub/src/watch-hub.ts', 'watch hub'],
])('%s belongs to %s', (file, stage) => {
  const profile: CpuProfile = { nodes: [node(1, 'f', `file:///x/${file}`)], samples: [1], timeDeltas: [3] };
  expect([...microsecondsByStage(profile)]).toEqual([[stage, 3]]);
});
