import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';
import type { Rule, RuleFile } from './live-rules.ts';

/** The rules of etcd's mixin, as jsonnet has printed them: JSON, which promtool and Prometheus take for YAML. */
export const readMixin = (file: string): RuleFile => JSON.parse(readFileSync(file, 'utf8')) as RuleFile;

export const rulesOf = ({ groups }: RuleFile): readonly Rule[] => groups.flatMap(({ rules }) => rules);

/** Name and severity: what tells a rule from the others of a file. */
export const idOf = ({ alert, labels }: Rule): string => `${alert} ${labels['severity']}`;

/** The metrics that an expression asks for, each with the job that it selects, and without its other labels. */
export function selectorsOf(expr: string): readonly string[] {
  const names = new Set<string>();
  parser.parse(expr).iterate({
    enter: ({ type, from, to }) => {
      if (type.name === 'Identifier') names.add(expr.slice(from, to));
    },
  });
  return [...names].map((name) => `${name}{job=~".*etcd.*"}`);
}
