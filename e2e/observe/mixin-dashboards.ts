import { readFileSync } from 'node:fs';
import { parser } from '@prometheus-io/lezer-promql';

/** A dashboard as Grafana takes it: panels, or panels in rows in its version 7. */
interface Dashboard {
  readonly panels?: readonly Panel[];
  readonly rows?: readonly { readonly panels: readonly Panel[] }[];
}
interface Panel {
  readonly title: string;
  readonly targets: readonly { readonly expr: string }[];
}

/** By the label that tells clusters apart. */
export type MixinDashboards = Readonly<Record<'job' | 'cluster', readonly Dashboard[]>>;

/** Panels of etcd's that have no series where a member is alone: it has no peers. */
export const peerPanels: readonly string[] = ['Peer round trip time', 'Peer traffic in', 'Peer traffic out'];

export const readDashboards = (file: string): MixinDashboards =>
  JSON.parse(readFileSync(file, 'utf8')) as MixinDashboards;

export interface PanelExpression {
  /** Of its panel, as in newer dashboards: older ones begin more words with a capital letter. */
  readonly title: string;
  readonly expr: string;
}

/** All expressions of these dashboards, with the variables as Grafana fills them in for one cluster. */
export function panelExpressions(dashboards: readonly Dashboard[], cluster: string): readonly PanelExpression[] {
  return dashboards.flatMap(({ panels = [], rows = [] }) =>
    [...panels, ...rows.flatMap((row) => row.panels)].flatMap(({ title, targets }) =>
      targets.map(({ expr }) => ({
        title: `${title[0]}${title.slice(1).toLowerCase()}`,
        expr: expr.replaceAll('$__rate_interval', '30s').replaceAll('$cluster', cluster),
      })),
    ),
  );
}

/** Whether it is of Prometheus' grammar. */
export function parses(expr: string): boolean {
  let wrong = false;
  parser.parse(expr).iterate({
    enter: ({ type }) => {
      wrong ||= type.isError;
    },
  });
  return !wrong;
}
