import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chartSvg } from './chart.ts';
import { charts } from './charts.ts';
import { root } from './root.ts';

/** The files of docs/charts, by their paths from the project's root. */
export function chartFiles(): ReadonlyMap<string, string> {
  return new Map(charts().map((chart) => [`docs/charts/${chart.id}.svg`, chartSvg(chart, { alone: true })]));
}

export function writeChartFiles(): void {
  rmSync(join(root, 'docs/charts'), { recursive: true, force: true });
  mkdirSync(join(root, 'docs/charts'), { recursive: true });
  for (const [path, text] of chartFiles()) writeFileSync(join(root, path), text);
}
