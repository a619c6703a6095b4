import type { CommandRun } from '../cli/command.ts';
import { jsonLine } from '../print/json.ts';
import { tableText } from '../print/table.ts';

/** Rows of one table. A longer list has several, so that none is held whole. */
const TABLE_ROWS_MAX = 500;

/** One thing of a list, in each of the forms. */
export interface Row {
  readonly line: string;
  readonly cells: readonly string[];
  readonly json: object;
}

/** Prints a list of any length while it comes. */
export class RowPrinter {
  readonly #run: Pick<CommandRun, 'form' | 'printer'>;
  readonly #heads: readonly string[];
  #rows: (readonly string[])[] = [];

  constructor(run: Pick<CommandRun, 'form' | 'printer'>, heads: readonly string[]) {
    this.#run = run;
    this.#heads = heads;
  }

  async print({ line, cells, json }: Row): Promise<void> {
    const { form, printer } = this.#run;
    if (form === 'json') return await printer.out(jsonLine(json));
    if (form === 'simple') return await printer.out(line);
    this.#rows.push(cells);
    if (this.#rows.length === TABLE_ROWS_MAX) await this.end();
  }

  async end(): Promise<void> {
    if (this.#rows.length === 0) return;
    await this.#run.printer.out(tableText(this.#heads, this.#rows));
    this.#rows = [];
  }
}
