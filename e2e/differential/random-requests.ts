import type { Prng } from '@engram/sim';
import { covers } from './collisions.ts';
import type { Fields, Value } from './messages.ts';

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/** Few keys, so that requests collide: neighbours, prefixes of each other, and all kinds of bytes. */
const KEYS = [
  'a', 'a\0', 'a\0\0', 'aa', 'ab', 'a\xff', 'b', 'ba', 'c', 'd', '\0', '\0\0', '\x01', '\x7f', '\x80', '\xff',
  '\xff\xff', '\xff\x00', '/registry/pods/a', '/registry/pods/b', '/registry/pods0', '/registry/minions/x',
  `long/${'k'.repeat(300)}`,
] as const; // biome-ignore format: a list of keys

const RANGE_ENDS = [
  '',
  '',
  '\0',
  '\0',
  'b',
  'aa',
  '\xff',
  '/registry/pods0',
  'zz',
  'a',
  '\x01',
  '\0\0',
  '\xff\xff\xff',
];
const VALUES = ['', 'v', 'w', 'value', '\0', '\xff\xfe', '\0'.repeat(9), 'x'.repeat(2_000)];
/** Ids that clients choose: all 64 bits are significant. */
const LEASES = [1n, 2n, 7n, 2n ** 31n, 2n ** 53n + 1n, 2n ** 53n + 2n, INT64_MAX, -1n, -7n, INT64_MIN];

/** Requests of the KV and Lease services, both usual ones and ones that no client sends. */
export class RandomRequests {
  readonly #prng: Prng;
  readonly #reversed: boolean;
  /** The stores' revision, approximately. */
  revision = 1;

  /** `reversed`: ranges whose end is not above their key are made too. */
  constructor(prng: Prng, { reversed = true } = {}) {
    this.#prng = prng;
    this.#reversed = reversed;
  }

  /** The fields of a range; turned round where it is reversed and must not be. */
  span(key: string, rangeEnd: string | undefined): { readonly key: string; readonly rangeEnd: string | undefined } {
    const ordered = rangeEnd === undefined || rangeEnd === '' || rangeEnd === '\0' || key < rangeEnd;
    if (ordered || this.#reversed) return { key, rangeEnd };
    return key === rangeEnd ? { key, rangeEnd: undefined } : { key: rangeEnd, rangeEnd: key };
  }

  key(): string {
    return this.#rarely(0.01) ? '' : this.#prng.pick(KEYS);
  }

  rangeEnd(): string {
    return this.#rarely(0.3) ? this.#prng.pick(KEYS) : this.#prng.pick(RANGE_ENDS);
  }

  value(): string {
    return this.#rarely(0.2) ? `${this.#prng.below(1000)}` : this.#prng.pick(VALUES);
  }

  /** A revision, mostly a readable one. */
  pastRevision(): bigint {
    if (this.#rarely(0.15)) return this.#oddNumber();
    return BigInt(Math.max(0, this.revision - this.#prng.below(12)));
  }

  leaseId(): bigint {
    return this.#prng.pick(LEASES);
  }

  range(): Fields {
    const sorted = this.#rarely(0.4);
    const filtered = this.#rarely(0.25);
    return {
      ...this.span(this.key(), this.rangeEnd()),
      limit: this.#maybe(0.35, () => (this.#rarely(0.2) ? this.#oddNumber() : BigInt(this.#prng.below(6)))),
      revision: this.#maybe(0.35, () => this.pastRevision()),
      sortOrder: sorted ? this.#enumNumber(3) : undefined,
      sortTarget: sorted ? this.#enumNumber(5) : undefined,
      serializable: this.#maybe(0.3, () => true),
      keysOnly: this.#maybe(0.2, () => true),
      countOnly: this.#maybe(0.12, () => true),
      minModRevision: filtered ? this.#maybe(0.4, () => this.pastRevision()) : undefined,
      maxModRevision: filtered ? this.#maybe(0.4, () => this.pastRevision()) : undefined,
      minCreateRevision: filtered ? this.#maybe(0.4, () => this.pastRevision()) : undefined,
      maxCreateRevision: filtered ? this.#maybe(0.4, () => this.pastRevision()) : undefined,
    };
  }

  put(): Fields {
    const ignoreValue = this.#rarely(0.1);
    const ignoreLease = this.#rarely(0.1);
    return {
      key: this.key(),
      value: ignoreValue && !this.#rarely(0.1) ? undefined : this.value(),
      lease: ignoreLease && !this.#rarely(0.1) ? undefined : this.#maybe(0.25, () => this.leaseId()),
      prevKv: this.#maybe(0.4, () => true),
      ignoreValue: ignoreValue ? true : undefined,
      ignoreLease: ignoreLease ? true : undefined,
    };
  }

  deleteRange(): Fields {
    const wide = this.#rarely(0.2);
    return {
      ...this.span(this.key(), wide ? this.rangeEnd() : this.#maybe(0.1, () => this.#prng.pick(KEYS))),
      prevKv: this.#maybe(0.5, () => true),
    };
  }

  /** Excludes transactions in which etcd would change a key twice. */
  txn(): Fields {
    for (;;) {
      const txn = this.#txn(0);
      if (!covers(txn)) return txn;
    }
  }

  /** Excludes sorts that etcd would apply within each message only. */
  rangeStream(): Fields {
    const { sortTarget, ...request } = this.range();
    return request['sortOrder'] === 0 ? request : { ...request, sortTarget };
  }

  compact(): Fields {
    const far = this.#rarely(0.3);
    return {
      revision: far ? this.pastRevision() : BigInt(this.revision - 5 - this.#prng.below(10)),
      physical: this.#maybe(0.3, () => true),
    };
  }

  #txn(depth: number): Fields {
    const most = this.#rarely(0.02) ? 131 : this.#prng.pick([1, 2, 2, 3, 5]);
    const list = <Item>(make: () => Item): Item[] => Array.from({ length: this.#prng.below(most + 1) }, make);
    return {
      compare: this.#rarely(0.7) ? list(() => this.#compare()) : [],
      success: list(() => this.#op(depth)),
      failure: list(() => this.#op(depth)),
    };
  }

  #op(depth: number): Fields {
    const kind = this.#prng.below(20);
    if (kind < 6) return { requestPut: this.put() };
    if (kind < 9) return { requestDeleteRange: this.deleteRange() };
    if (kind < 15) return { requestRange: this.range() };
    if (kind < 16 && this.#rarely(0.05)) return {};
    return depth < 3 ? { requestTxn: this.#txn(depth + 1) } : { requestPut: this.put() };
  }

  #compare(): Fields {
    const target = this.#enumNumber(5);
    const number = (): bigint => (this.#rarely(0.5) ? BigInt(this.#prng.below(4)) : this.pastRevision());
    const union = this.#rarely(0.07) ? this.#prng.below(6) : target;
    const union_: Fields[] = [
      { version: number() },
      { createRevision: number() },
      { modRevision: number() },
      { value: this.value() },
      { lease: this.#rarely(0.5) ? 0n : this.leaseId() },
    ];
    return {
      result: this.#enumNumber(4),
      target,
      ...this.span(
        this.key(),
        this.#maybe(0.3, () => this.rangeEnd()),
      ),
      ...union_[union],
    };
  }

  /** A known number of the enum, or rarely an unknown one. */
  #enumNumber(count: number): number {
    return this.#rarely(0.02) ? this.#prng.pick([-1, count, 99, -(2 ** 31), 2 ** 31 - 1]) : this.#prng.below(count);
  }

  #oddNumber(): bigint {
    const { revision } = this;
    const near = [-1n, 1n, 2n, BigInt(revision), BigInt(revision + 1), BigInt(revision + 2), BigInt(revision - 1)];
    const far = [2n ** 31n - 1n, 2n ** 31n, 2n ** 32n, 2n ** 53n, 2n ** 53n + 1n, INT64_MAX - 1n, INT64_MAX, INT64_MIN];
    return this.#prng.pick([...near, ...far]);
  }

  #rarely(probability: number): boolean {
    return this.#prng.chance(probability);
  }

  #maybe<Made extends Value>(probability: number, make: () => Made): Made | undefined {
    return this.#prng.chance(probability) ? make() : undefined;
  }
}
