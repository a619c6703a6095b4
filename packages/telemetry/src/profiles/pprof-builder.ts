import { constants, gzip } from 'node:zlib';
import { promisify } from 'node:util';
import type { Loop, PureJob } from '@engram/loop';
import { encode } from '@engram/protobuf';
import * as profiles from './gen/perftools-profiles.ts';

/** Parts of a profile that are encoded at a time. Parts of a message, one after another, are the message. */
const PART_ITEMS = 500;
/** The one mapping: all code is in this program, and has its names in the profile. */
const PROGRAM = 1;

/** A function, as V8 names it. Its lines count from 0. */
export interface Frame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
}

/** A place in a tree of calls. */
export interface CallNode {
  readonly id: number;
  readonly frame: Frame;
  /** Undefined for the root, which is no function. */
  readonly parent: CallNode | undefined;
}

/** What each value of a sample counts, such as `cpu` in `nanoseconds`. */
export interface ValueKind {
  readonly type: string;
  readonly unit: string;
}

export interface ProfileHead {
  readonly kinds: readonly ValueKind[];
  /** The kind of what lies between two samples, and how much of it. */
  readonly period: ValueKind;
  readonly periodValue: number;
  /** When it began, in milliseconds since 1970. */
  readonly startMs: number;
  readonly durationMs: number;
}

/** Collects stacks with values into a profile of pprof (github.com/google/pprof, proto/profile.proto). */
export class PprofBuilder {
  readonly #strings = new Map<string, number>([['', 0]]);
  readonly #functions = new Map<string, profiles.FunctionInit>();
  /** A location is a function: V8 says where it begins, not where in it a call was. */
  readonly #samples: profiles.SampleInit[] = [];

  /** Adds `values`, one of each kind, to the stack that ends in `leaf`. */
  add(leaf: CallNode, values: readonly number[]): void {
    const locationId: number[] = [];
    for (let node: CallNode | undefined = leaf; node?.parent !== undefined; node = node.parent) {
      locationId.push(this.#function(node.frame));
    }
    this.#samples.push({ locationId, value: [...values] });
  }

  /** The profile, gzipped as pprof keeps it. */
  *encoding(head: ProfileHead, loop: Loop): PureJob<Uint8Array> {
    const pieces = [encode(profiles.ProfileCodec, this.#head(head))];
    const functions = [...this.#functions.values()];
    const locations = functions.map(({ id = 0 }) => ({ id, mappingId: PROGRAM, line: [{ functionId: id }] }));
    const strings = [...this.#strings.keys()];
    for (const part of [
      ...partsOf(this.#samples).map((sample) => ({ sample })),
      ...partsOf(locations).map((location) => ({ location })),
      ...partsOf(functions).map((all) => ({ function: all })),
      ...partsOf(strings).map((stringTable) => ({ stringTable })),
    ]) {
      pieces.push(encode(profiles.ProfileCodec, part));
      if (loop.shouldYield(PART_ITEMS)) yield;
    }
    return Buffer.concat(pieces);
  }

  #head({ kinds, period, periodValue, startMs, durationMs }: ProfileHead): profiles.ProfileInit {
    return {
      sampleType: kinds.map((kind) => this.#kind(kind)),
      mapping: [{ id: PROGRAM, filename: this.#string('engram'), hasFunctions: true, hasFilenames: true }],
      periodType: this.#kind(period),
      period: periodValue,
      timeNanos: BigInt(Math.round(startMs * 1000)) * 1000n,
      durationNanos: Math.round(durationMs * 1e6),
    };
  }

  #kind({ type, unit }: ValueKind): profiles.ValueTypeInit {
    return { type: this.#string(type), unit: this.#string(unit) };
  }

  #function({ functionName, url, lineNumber }: Frame): number {
    const key = `${functionName} ${url}:${lineNumber}`;
    const known = this.#functions.get(key)?.id;
    if (known !== undefined) return known;
    const id = this.#functions.size + 1;
    const name = this.#string(functionName === '' ? '(anonymous)' : functionName);
    const filename = this.#string(url.replace(/^file:\/\//, ''));
    this.#functions.set(key, { id, name, systemName: name, filename, startLine: lineNumber + 1 });
    return id;
  }

  #string(text: string): number {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    const index = this.#strings.size;
    this.#strings.set(text, index);
    return index;
  }
}

function partsOf<Item>(items: readonly Item[]): readonly (readonly Item[])[] {
  const parts: Item[][] = [];
  for (let at = 0; at < items.length; at += PART_ITEMS) parts.push(items.slice(at, at + PART_ITEMS));
  return parts;
}

const deflate = promisify(gzip);

/** In a thread of node's pool. */
export const gzipped = (profile: Uint8Array): Promise<Uint8Array> =>
  deflate(profile, { level: constants.Z_BEST_SPEED });
