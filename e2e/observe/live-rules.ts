import { writeFileSync } from 'node:fs';
import { stringify } from 'yaml';

/** A rule, as Prometheus' files have it. */
export interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly for?: string;
  readonly labels: Readonly<Record<string, string>>;
}

export interface RuleFile {
  readonly groups: readonly { readonly name: string; readonly rules: readonly Rule[] }[];
}

/** Of a range in its rule: a quarter of an hour passes in as many seconds. */
const SHORTER = 60;
/** So that there are enough scrapes, one a second, for a rate. */
const RANGE_MIN_SECONDS = 5;
/** How long an expression has to hold. */
const FOR = '1s';

const UNITS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };
const secondsOf = (count: string, unit: string): number => Number(count) * UNITS[unit]!;

/** The expression with shorter ranges, and with the step of a subquery at one second. */
export const shorter = (expr: string): string =>
  expr.replaceAll(
    /\[(\d+)([smh])(:\d+[smh])?\]/g,
    (_, count: string, unit: string, step?: string) =>
      `[${Math.max(RANGE_MIN_SECONDS, Math.ceil(secondsOf(count, unit) / SHORTER))}s${step === undefined ? '' : ':1s'}]`,
  );

/** Writes the rules of `from` as a file for members that are watched for a minute. `label` tells them from others of their names. */
export function writeLiveRules(file: string, { groups }: RuleFile, label: string): void {
  const short = groups.map(({ name, rules }) => ({
    name: `${label} ${name}`,
    rules: rules.map(({ alert, expr, labels }) => ({
      alert,
      expr: shorter(expr),
      for: FOR,
      labels: { ...labels, rules: label },
    })),
  }));
  writeFileSync(file, stringify({ groups: short }, { lineWidth: 0 }));
}
