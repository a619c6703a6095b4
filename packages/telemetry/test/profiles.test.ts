import { getEventListeners } from 'node:events';
import type { Profiler as V8 } from 'node:inspector';
import { gunzipSync } from 'node:zlib';
import { Loop, SeededPace } from '@engram/loop';
import { generatedContract } from '@engram/protobuf/contract';
import { messageSet } from '@engram/protobuf/schema';
import { Prng, realClock } from '@engram/sim';
import { Profiler } from '@engram/telemetry';
import { describe, expect, test } from 'vitest';
import * as profiles from '../src/profiles/gen/perftools-profiles.ts';
import { cpuPprof, heapPprof } from '../src/profiles/pprof.ts';

generatedContract(messageSet('pprof'), { 'perftools.profiles': profiles });

const loop = new Loop({ clock: realClock });
const never = new AbortController().signal;

/** Each stack, from the leaf to the root, with its values. */
function stacksOf(bytes: Uint8Array): {
  readonly profile: profiles.Profile;
  readonly stacks: Record<string, readonly number[]>;
} {
  const profile = profiles.decodeProfile(bytes);
  const text = (index: number): string => profile.stringTable[index] ?? `string ${index}`;
  const functions = new Map(profile.function.map((one) => [one.id, text(one.name)]));
  const locations = new Map(profile.location.map(({ id, line }) => [id, functions.get(line[0]?.functionId ?? 0)]));
  const stacks = profile.sample.map(
    ({ locationId, value }) => [locationId.map((id) => locations.get(id)).join(' < '), [...value]] as const,
  );
  expect(new Set(stacks.map(([stack]) => stack)).size).toBe(stacks.length);
  return { profile, stacks: Object.fromEntries(stacks) };
}

const kindsOf = ({ sampleType, stringTable }: profiles.Profile): string[] =>
  sampleType.map(({ type, unit }) => `${stringTable[type]}/${stringTable[unit]}`);

const frame = (functionName: string, url = 'file:///engram/a.ts', lineNumber = 9) => ({
  functionName,
  url,
  lineNumber,
  columnNumber: 0,
  scriptId: '1',
});

describe('a profile of V8 becomes one of pprof', () => {
  const cpu: V8.Profile = {
    nodes: [
      { id: 1, callFrame: frame('(root)', '', -1), children: [2, 5, 6] },
      { id: 2, callFrame: frame('main'), children: [3, 4] },
      { id: 3, callFrame: frame('put') },
      { id: 4, callFrame: frame('') },
      { id: 5, callFrame: frame('(idle)', '', -1) },
      { id: 6, callFrame: frame('(garbage collector)', '', -1) },
    ],
    startTime: 1_000,
    endTime: 101_000,
    samples: [3, 3, 4, 5, 6],
    timeDeltas: [500, 10_000, 20_000, 10_000, 30_000],
  };

  test('CPU: each sample counts until the next one, and what is idle does not count', async () => {
    const { profile, stacks } = stacksOf(await loop.run(task, cpuPprof(cpu, 10_000, 1_700_000_000_123, loop), never));
    expect(stacks).toEqual({
      'put < main': [2, 30_000_000],
      '(anonymous) < main': [1, 10_000_000],
      '(garbage collector)': [1, 29_500_000],
    });
    expect(kindsOf(profile)).toEqual(['samples/count', 'cpu/nanoseconds']);
    expect(profile).toMatchObject({ timeNanos: 1_700_000_000_123_000_000n, durationNanos: 1e8, period: 1e7 });
    const [main] = profile.function.filter(({ name }) => profile.stringTable[name] === 'main');
    expect([profile.stringTable[main!.filename], main!.startLine]).toEqual(['/engram/a.ts', 10]);
    expect(profile.mapping).toMatchObject([{ id: 1, hasFunctions: true }]);
  });

  test('heap: samples stand for as many objects as their size makes likely', async () => {
    const head = {
      id: 1,
      callFrame: frame('(root)', '', -1),
      selfSize: 0,
      children: [{ id: 2, callFrame: frame('make'), selfSize: 1_000, children: [] }],
    };
    const samples = [
      { nodeId: 2, size: 100, ordinal: 1 },
      { nodeId: 2, size: 10_000, ordinal: 2 },
    ];
    const { profile, stacks } = stacksOf(await loop.run(task, heapPprof({ head, samples }, 1_000, 5, loop), never));
    const scale = (size: number): number => 1 / (1 - Math.exp(-size / 1_000));
    expect(stacks).toEqual({
      make: [Math.round(scale(100) + scale(10_000)), Math.round(100 * scale(100) + 10_000 * scale(10_000))],
    });
    expect(kindsOf(profile)).toEqual(['inuse_objects/count', 'inuse_space/bytes']);
  });

  test('one without samples is a profile, too', async () => {
    const empty = { nodes: [cpu.nodes[0]!], startTime: 1, endTime: 2, samples: [], timeDeltas: [] };
    expect(stacksOf(await loop.run(task, cpuPprof(empty, 10_000, 5, loop), never)).stacks).toEqual({});
  });

  test('a large one is made in slices', async () => {
    const count = 20_000;
    const nodes: V8.ProfileNode[] = [{ id: 1, callFrame: frame('(root)'), children: [] }];
    for (let id = 2; id < count; id += 1) {
      nodes.push({ id, callFrame: frame(`f${id}`) });
      nodes[0]!.children!.push(id);
    }
    const samples = nodes.slice(1).map(({ id }) => id);
    const large = { nodes, startTime: 0, endTime: count, samples, timeDeltas: samples.map(() => 1) };
    const cut = new Loop({ clock: realClock, pace: new SeededPace(new Prng(3)) });
    const { stacks } = stacksOf(await cut.run(task, cpuPprof(large, 10_000, 5, cut), never));
    expect(Object.keys(stacks).length).toBe(count - 2);
  });
});

const task = { work: 'background', caller: 'test', stage: 'profile' } as const;

function burnForTheProfile(ms: number): number {
  let sum = 0;
  for (const endMs = performance.now() + ms; performance.now() < endMs; ) sum += Math.sqrt(sum + 1);
  return sum;
}

function keepForTheProfile(): object[] {
  return Array.from({ length: 200_000 }, (_, at) => ({ at, text: `number ${at}` }));
}

describe('profiles of this process', () => {
  test('CPU: the function that is busy is in it, and a second profile at the same time is refused', async () => {
    using profiler = await Profiler.open(realClock, loop);
    const taking = profiler.cpu(1, 'pprof', never);
    await expect(profiler.cpu(1, 'pprof', never)).rejects.toThrow('cpu profiling already in use');
    const busy = setInterval(() => burnForTheProfile(40), 50);
    const bytes = await taking;
    clearInterval(busy);
    const { stacks } = stacksOf(gunzipSync(bytes!));
    // How much is sampled depends on the machine's other work, and what part of it is of this function does not.
    const sumOf = (of: (stack: string) => boolean): number =>
      Object.entries(stacks).reduce((sum, [stack, [, nanoseconds = 0]]) => sum + (of(stack) ? nanoseconds : 0), 0);
    expect(sumOf((stack) => stack.includes('burnForTheProfile'))).toBeGreaterThan(sumOf(() => true) / 2);
    // And again, for Chrome.
    const again: unknown = JSON.parse(Buffer.from((await profiler.cpu(1, 'chrome', never))!).toString());
    expect(again).toMatchObject({ nodes: expect.any(Array), samples: expect.any(Array) });
  });

  test('a profile that nobody waits for any more ends, and another one can be taken', async () => {
    using profiler = await Profiler.open(realClock, loop);
    const gone = new AbortController();
    const taking = profiler.cpu(300, 'pprof', gone.signal);
    gone.abort();
    expect(await taking).toBeUndefined();
    const left = new AbortController();
    const next = profiler.cpu(300, 'pprof', left.signal);
    left.abort();
    expect(await next).toBeUndefined();
  });

  test('one that nobody waits for from the beginning leaves no listener', async () => {
    using profiler = await Profiler.open(realClock, loop);
    const gone = AbortSignal.abort();
    expect(await profiler.cpu(300, 'pprof', gone)).toBeUndefined();
    expect(getEventListeners(gone, 'abort')).toEqual([]);
  });

  test('heap: what lives is in it, with about its size', async () => {
    using profiler = await Profiler.open(realClock, loop);
    const kept = keepForTheProfile();
    const { stacks } = stacksOf(gunzipSync(await profiler.heap('pprof', never)));
    const held = Object.entries(stacks).filter(([stack]) => stack.includes('keepForTheProfile'));
    const bytes = held.reduce((sum, [, [, space = 0]]) => sum + space, 0);
    expect(bytes).toBeGreaterThan(2 * 1024 * 1024);
    expect(bytes).toBeLessThan(100 * 1024 * 1024);
    const chrome: unknown = JSON.parse(Buffer.from(await profiler.heap('chrome', never)).toString());
    expect(chrome).toMatchObject({ head: { callFrame: { functionName: '(root)' } } });
    expect(kept.length).toBe(200_000);
  });
});
