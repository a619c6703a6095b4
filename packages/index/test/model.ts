import {
  type VersionMeta,
  compareBytes,
  keyBytes,
  type KeyRange,
  keyText,
  type LogPosition,
  rangeContains,
} from '@engram/core';

/** The obviously correct index: a map of version lists, searched from end to end. */
export class ModelIndex {
  readonly chains = new Map<string, VersionMeta[]>();

  append(key: Uint8Array, meta: VersionMeta): void {
    const chain = this.chains.get(keyText(key));
    if (chain === undefined) this.chains.set(keyText(key), [meta]);
    else chain.push(meta);
  }

  undo(key: Uint8Array): void {
    const chain = this.chains.get(keyText(key))!;
    chain.pop();
    if (chain.length === 0) this.chains.delete(keyText(key));
  }

  keys(range: KeyRange): Uint8Array[] {
    return [...this.chains.keys()]
      .map(keyBytes)
      .filter((key) => rangeContains(range, key))
      .sort(compareBytes);
  }

  at(key: Uint8Array, revision: number): VersionMeta | undefined {
    return this.chains.get(keyText(key))?.findLast((meta) => meta.modRevision <= revision);
  }

  liveAt(key: Uint8Array, revision: number): VersionMeta | undefined {
    const meta = this.at(key, revision);
    return meta?.tombstone === true ? undefined : meta;
  }

  collect(range: KeyRange, revision: number): VersionMeta[] {
    return this.keys(range).flatMap((key) => this.liveAt(key, revision) ?? []);
  }

  changes(range: KeyRange, from: number, to: number): VersionMeta[] {
    return this.keys(range)
      .flatMap((key) => this.chains.get(keyText(key))!)
      .filter((meta) => meta.modRevision >= from && meta.modRevision <= to)
      .sort((left, right) => left.modRevision - right.modRevision || left.sub - right.sub);
  }

  all(): VersionMeta[] {
    return [...this.chains.values()].flat();
  }

  /** Returns the positions of the dropped versions. */
  compact(revision: number): LogPosition[] {
    const dropped: LogPosition[] = [];
    for (const [key, chain] of this.chains) {
      const newest = chain.findLast((meta) => meta.modRevision <= revision);
      const kept = chain.filter((meta) => {
        if (meta.modRevision > revision) return true;
        return meta === newest && (!meta.tombstone || meta.modRevision === revision);
      });
      for (const meta of chain) if (!kept.includes(meta)) dropped.push(meta.position);
      if (kept.length === 0) this.chains.delete(key);
      else this.chains.set(key, kept);
    }
    return dropped;
  }
}
