/** Code units in the order of the code points: surrogates stand for those above 0xffff, so they come last. */
const rank = (unit: number): number => (unit < 0xd800 ? unit : unit < 0xe000 ? unit + 0x2000 : unit - 0x800);

/** The order of the names' UTF-8 bytes, in which etcd sorts users and roles. Not the order of `<` beyond U+D7FF. */
export function compareNames(left: string, right: string): number {
  const common = Math.min(left.length, right.length);
  for (let at = 0; at < common; at += 1) {
    const leftUnit = left.charCodeAt(at);
    const rightUnit = right.charCodeAt(at);
    if (leftUnit !== rightUnit) return rank(leftUnit) - rank(rightUnit);
  }
  return left.length - right.length;
}

/** The place of the first of `count` sorted items that is not before what is looked for. */
export function firstNotBefore(count: number, isBefore: (at: number) => boolean): number {
  let low = 0;
  let high = count;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(middle)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * Rows with a name each, in the order of the names. Immutable: a change makes a new table and copies references only,
 * which costs about 1 ns for each row.
 */
export class NameTable<Row extends { readonly name: string }> {
  /** In the order of the names. */
  readonly rows: readonly Row[];

  private constructor(rows: readonly Row[]) {
    this.rows = rows;
  }

  /** The names must differ. */
  static of<Row extends { readonly name: string }>(rows: readonly Row[]): NameTable<Row> {
    return new NameTable(rows.toSorted((left, right) => compareNames(left.name, right.name)));
  }

  get(name: string): Row | undefined {
    const row = this.rows[this.#place(name)];
    return row?.name === name ? row : undefined;
  }

  /** With the row added, or in the place of the one of its name. */
  with(row: Row): NameTable<Row> {
    const at = this.#place(row.name);
    return new NameTable(this.rows.toSpliced(at, this.rows[at]?.name === row.name ? 1 : 0, row));
  }

  without(name: string): NameTable<Row> {
    const at = this.#place(name);
    return this.rows[at]?.name === name ? new NameTable(this.rows.toSpliced(at, 1)) : this;
  }

  names(): string[] {
    return this.rows.map(({ name }) => name);
  }

  #place(name: string): number {
    const { rows } = this;
    return firstNotBefore(rows.length, (at) => compareNames(rows[at]!.name, name) < 0);
  }
}
