import { compareBytes } from '@engram/core';
import { ELSEWHERE, kubePlace } from '../kube/kube-key.ts';
import { type KubeValue, kubeValue } from '../kube/kube-value.ts';
import type { OldVersion, StoredKey, StoredPage } from './stored-key.ts';

/** Namespaces of resources that are counted each for itself. What is beyond is counted together. */
const PLACES_MAX = 100_000;
const REST = '(more)';
const KINDS_MAX = 8;

/** Counts of keys, in the order in which they are told. Bytes are of keys and values, without what a storage adds. */
export interface Counts {
  keys: number;
  keyBytes: number;
  valueBytes: number;
  /** Changes of the living keys since they were created: their versions, added up. */
  changes: number;
  leased: number;
  /** Only of files: what the history has beside the living versions. */
  oldVersions: number;
  oldBytes: number;
  deletions: number;
}

export interface LargestKey {
  readonly key: Uint8Array;
  readonly valueBytes: number;
}

export interface ResourceTally {
  readonly resource: string;
  readonly counts: Counts;
  readonly namespaces: ReadonlyMap<string, Counts>;
  /** Keys by the form of their values: protobuf, json, and so on; encrypted ones by provider, version and key name. */
  readonly forms: ReadonlyMap<string, number>;
  /** "apps/v1 Deployment", at most eight. */
  readonly kinds: ReadonlySet<string>;
  readonly largest: LargestKey | undefined;
}

interface Resource {
  readonly resource: string;
  readonly counts: Counts;
  readonly namespaces: Map<string, Counts>;
  readonly forms: Map<string, number>;
  readonly kinds: Set<string>;
  largest: LargestKey | undefined;
}

const newCounts = (): Counts => ({
  keys: 0,
  keyBytes: 0,
  valueBytes: 0,
  changes: 0,
  leased: 0,
  oldVersions: 0,
  oldBytes: 0,
  deletions: 0,
});

/** Adds up what a store holds, by resource and namespace. Holds the places, not the keys: at most 100,000 of them. */
export class Tally {
  readonly total = newCounts();
  readonly #prefix: string;
  readonly #placesMax: number;
  readonly #resources = new Map<string, Resource>();
  #places = 0;

  constructor(prefix: string, placesMax = PLACES_MAX) {
    this.#prefix = prefix;
    this.#placesMax = placesMax;
  }

  add({ keys, old }: StoredPage): void {
    for (const stored of keys) this.#addKey(stored);
    for (const version of old) this.#addOld(version);
  }

  /** The largest first. */
  get resources(): readonly ResourceTally[] {
    return [...this.#resources.values()].toSorted((left, right) => bytesOf(right.counts) - bytesOf(left.counts));
  }

  #addKey({ key, value, version, lease }: StoredKey): void {
    const [resource, namespace] = this.#placeOf(key);
    const isLeased = lease === 0n ? 0 : 1;
    for (const counts of [this.total, resource.counts, namespace]) {
      counts.keys += 1;
      counts.keyBytes += key.length;
      counts.valueBytes += value.length;
      counts.changes += version;
      counts.leased += isLeased;
    }
    const decoded = kubeValue(value);
    addForm(resource.forms, formName(decoded));
    if ((decoded.form === 'protobuf' || decoded.form === 'json') && resource.kinds.size < KINDS_MAX) {
      resource.kinds.add(`${decoded.apiVersion} ${decoded.kind}`);
    }
    if (isLarger(key, value.length, resource.largest)) {
      resource.largest = { key: Uint8Array.from(key), valueBytes: value.length };
    }
  }

  #addOld({ key, valueBytes, deletion }: OldVersion): void {
    const [resource, namespace] = this.#placeOf(key);
    for (const counts of [this.total, resource.counts, namespace]) {
      counts.oldVersions += 1;
      counts.oldBytes += key.length + valueBytes;
      counts.deletions += deletion ? 1 : 0;
    }
  }

  #placeOf(key: Uint8Array): readonly [resource: Resource, namespace: Counts] {
    const place = kubePlace(Buffer.from(key.buffer, key.byteOffset, key.length).toString('utf8'), this.#prefix);
    const resource = this.#resourceOf(place.resource);
    const known = resource.namespaces.get(place.namespace);
    if (known !== undefined) return [resource, known];
    const name = this.#places < this.#placesMax ? place.namespace : REST;
    const counts = resource.namespaces.get(name) ?? newCounts();
    if (!resource.namespaces.has(name)) {
      resource.namespaces.set(name, counts);
      this.#places += 1;
    }
    return [resource, counts];
  }

  #resourceOf(wanted: string): Resource {
    const known = this.#resources.get(wanted);
    if (known !== undefined) return known;
    // Keys of another program may have as many first segments as there are keys.
    const name = this.#places < this.#placesMax ? wanted : ELSEWHERE;
    const resource: Resource = this.#resources.get(name) ?? {
      resource: name,
      counts: newCounts(),
      namespaces: new Map(),
      forms: new Map(),
      kinds: new Set(),
      largest: undefined,
    };
    this.#resources.set(name, resource);
    return resource;
  }
}

/** Of keys with values of one size the first in order counts, whatever the order is in which they are told. */
function isLarger(key: Uint8Array, valueBytes: number, largest: LargestKey | undefined): boolean {
  if (largest === undefined || valueBytes !== largest.valueBytes) return valueBytes > (largest?.valueBytes ?? -1);
  return compareBytes(key, largest.key) < 0;
}

export const bytesOf = ({ keyBytes, valueBytes, oldBytes }: Counts): number => keyBytes + valueBytes + oldBytes;

const FORMS_MAX = 32;

function addForm(forms: Map<string, number>, name: string): void {
  const key = forms.has(name) || forms.size < FORMS_MAX ? name : REST;
  forms.set(key, (forms.get(key) ?? 0) + 1);
}

/** The form of a value, of an encrypted one with what its marker says: those are what an operator rotates. */
export function formName(value: KubeValue): string {
  if (value.form !== 'encrypted') return value.form;
  return `encrypted ${value.provider}:${value.version}:${value.keyName}`;
}
