/** Series of a promtool test: `name{labels}` to values in promtool's notation, one a minute. */
export type Series = Readonly<Record<string, string>>;

/** An alert, its page in docs/RUNBOOKS.md, and a test that fires it and one that does not. */
export interface Alert {
  readonly name: string;
  readonly expr: string;
  /** How long the expression has to hold. */
  readonly for: string;
  readonly severity: 'warning' | 'critical';
  /** One line, and one with labels: `{{ $labels.instance }}`, `{{ $value }}`. */
  readonly summary: string;
  readonly description: string;
  /** For the page: what it says about the member, who notices, where to look first, and what mends it. */
  readonly meaning: string;
  readonly impact: string;
  readonly look: string;
  readonly mend: string;
  /** With these series it fires at `at`, with those of `quiet` it does not. */
  readonly fires: Series;
  readonly quiet: Series;
  readonly at: string;
  /** How `e2e/observe` brings its cause about on members that run. Absent: promtool alone fires it. */
  readonly live?: string;
}

/** The jobs that etcd's own alerts and dashboards select. The chart sets `job` and `cluster` so. */
export const jobs = 'job=~".*etcd.*"';
