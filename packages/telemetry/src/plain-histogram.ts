/** A call whose trace is recorded. */
export interface RecordedCall {
  /** W3C's, 32 hexadecimal digits. */
  readonly traceId: string;
  /** When the call ended, in milliseconds since 1970. */
  readonly wallMs: number;
}

/** The newest traced call in a bucket. */
export interface Exemplar extends RecordedCall {
  readonly value: number;
}

/** One line of an exposition. `suffix` follows the metric's name. */
export interface Sample {
  readonly suffix?: string;
  readonly labels: Labels;
  readonly value: number;
  /** Of a bucket alone. Only OpenMetrics has a form for it. */
  readonly exemplar?: Exemplar;
}

export type Labels = Readonly<Record<string, string | number>>;

/** A histogram at a scrape. */
export interface HistogramReading {
  readonly labels: Labels;
  /** Upper bounds, ascending. */
  readonly bounds: Float64Array;
  /** Values of each bucket alone. One more than there are bounds: the last counts values above all bounds. */
  readonly counts: Float64Array;
  readonly sum: number;
  /** By bucket. */
  readonly exemplars: readonly (Exemplar | undefined)[];
}

/** `count` bounds: start, start*factor, start*factor^2, ..., as in etcd's metrics. */
export function exponentialBounds(start: number, factor: number, count: number): readonly number[] {
  // Rounded, so that 0.1 * 2^3 prints as 0.8 without a rounding error.
  return Array.from({ length: count }, (_, at) => Number((start * factor ** at).toPrecision(12)));
}

/** A histogram that costs a search over a few bounds and two additions. It is formatted only at a scrape. */
export class PlainHistogram {
  readonly #bounds: Float64Array;
  /** One more than there are bounds: the last counts values above all bounds. */
  readonly #counts: Float64Array;
  #sum = 0;
  /** By bucket. Undefined before the first traced call. */
  #exemplars: (Exemplar | undefined)[] | undefined;

  /** `bounds` are upper bounds, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = Float64Array.from(bounds);
    this.#counts = new Float64Array(bounds.length + 1);
  }

  /** `traced`: the call that has taken so long, if its trace is recorded. */
  observe(value: number, traced?: RecordedCall): void {
    const bucket = this.#bucketOf(value);
    this.#sum += value;
    this.#counts[bucket]! += 1;
    if (traced === undefined) return;
    this.#exemplars ??= [];
    this.#exemplars[bucket] = { ...traced, value };
  }

  #bucketOf(value: number): number {
    // Fast path: most reads from memory take less than the first bound.
    if (value <= this.#bounds[0]!) return 0;
    let low = 1;
    let high = this.#bounds.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (value <= this.#bounds[middle]!) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  get count(): number {
    return this.#counts.reduce((sum, count) => sum + count, 0);
  }

  /** What it has counted so far. Later calls do not change it. */
  reading(labels: Labels): HistogramReading {
    return {
      labels,
      bounds: this.#bounds,
      counts: this.#counts.slice(),
      sum: this.#sum,
      exemplars: this.#exemplars?.slice() ?? [],
    };
  }
}

/** The lines of the buckets, the sum and the count. */
export function linesOf({ labels, bounds, counts, sum, exemplars }: HistogramReading): readonly Sample[] {
  const lines: Sample[] = [];
  let below = 0;
  for (let at = 0; at < counts.length; at += 1) {
    below += counts[at]!;
    const le = at < bounds.length ? bounds[at]! : '+Inf';
    const exemplar = exemplars[at];
    const line = { suffix: '_bucket', labels: { ...labels, le }, value: below };
    lines.push(exemplar === undefined ? line : { ...line, exemplar });
  }
  lines.push({ suffix: '_sum', labels, value: sum }, { suffix: '_count', labels, value: below });
  return lines;
}
