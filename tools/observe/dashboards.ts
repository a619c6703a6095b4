import {
  DashboardBuilder,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { DataqueryBuilder } from '@grafana/grafana-foundation-sdk/prometheus';
import { PanelBuilder } from '@grafana/grafana-foundation-sdk/timeseries';
import { jobs } from './alert.ts';

/** A curve for each series of the expression. `{{label}}` in the legend. */
export interface Curve {
  readonly expr: string;
  readonly legend: string;
}

export interface Panel {
  readonly title: string;
  /** Grafana's name: `s`, `bytes`, `Bps`, `ops`, `short`, `percentunit`. */
  readonly unit: string;
  readonly text: string;
  readonly curves: readonly Curve[];
}

export interface Dashboard {
  readonly id: string;
  readonly title: string;
  readonly rows: readonly { readonly title: string; readonly panels: readonly Panel[] }[];
}

/** The series of the chosen cluster. */
const of = `${jobs}, cluster="$cluster"`;
const RANGE = '[$__rate_interval]';
const rate = (metric: string, more = ''): string => `rate(${metric}{${of}${more}}${RANGE})`;
const quantile = (share: number, histogram: string, by: string, more = ''): string =>
  `histogram_quantile(${share}, sum by (${by}, le) (${rate(`${histogram}_bucket`, more)}))`;
const panel = (
  title: string,
  unit: string,
  text: string,
  ...curves: readonly (readonly [string, string])[]
): Panel => ({
  title,
  unit,
  text,
  curves: curves.map(([expr, legend]) => ({ expr, legend })),
});
const gauge = (metric: string, more = ''): string => `${metric}{${of}${more}}`;

const bidi = ', grpc_type="bidi_stream"';

export const dashboards: readonly Dashboard[] = [
  {
    id: 'engram-overview',
    title: 'Engram / Overview',
    rows: [
      {
        title: 'Health',
        panels: [
          panel(
            'Members',
            'short',
            'Members that answer, and members that lead.',
            [`sum(up{${of}})`, 'up'],
            [`sum(${gauge('etcd_server_is_leader')})`, 'leaders'],
            [`sum(${gauge('etcd_server_has_leader')})`, 'with a leader'],
          ),
          panel('Leader changes in a day', 'short', 'Elections that every member saw.', [
            `max(changes(${gauge('etcd_server_leader_changes_seen_total')}[1d]))`,
            'changes',
          ]),
          panel('Storage does not answer', 's', 'For how long the leader has waited for its append.', [
            gauge('engram_storage_stalled_seconds'),
            '{{instance}}',
          ]),
        ],
      },
      {
        title: 'Work',
        panels: [
          panel('Calls', 'ops', 'Unary calls that ended.', [
            `sum by (grpc_method) (${rate('grpc_server_handled_total', ', grpc_type="unary"')})`,
            '{{grpc_method}}',
          ]),
          panel('Calls that fail', 'ops', 'By code; OK is left out.', [
            `sum by (grpc_code) (${rate('grpc_server_handled_total', ', grpc_code!="OK"')}) or 0 * sum(${rate('grpc_server_handled_total')})`,
            '{{grpc_code}}',
          ]),
          panel(
            'Time of calls, 99 %',
            's',
            'By kind of request; with --metrics=extensive by method, too.',
            [quantile(0.99, 'etcd_server_request_duration_seconds', 'type'), '{{type}}'],
            [quantile(0.99, 'grpc_server_handling_seconds', 'grpc_method', ', grpc_type="unary"'), '{{grpc_method}}'],
          ),
          panel('Open streams', 'short', 'Watches and lease keepalives.', [
            `sum by (grpc_service) (${gauge('grpc_server_started_total', bidi)}) - sum by (grpc_service) (${gauge('grpc_server_handled_total', bidi)})`,
            '{{grpc_service}}',
          ]),
        ],
      },
      {
        title: 'Machine',
        panels: [
          panel(
            'Data',
            'bytes',
            'On disk or in TiKV, in use, and the quota.',
            [gauge('etcd_mvcc_db_total_size_in_bytes'), '{{instance}} total'],
            [gauge('etcd_mvcc_db_total_size_in_use_in_bytes'), '{{instance}} in use'],
            [`max(${gauge('etcd_server_quota_backend_bytes')})`, 'quota'],
          ),
          panel('Memory', 'bytes', 'Resident.', [gauge('process_resident_memory_bytes'), '{{instance}}']),
          panel('CPU', 'percentunit', 'Cores.', [rate('process_cpu_seconds_total'), '{{instance}}']),
          panel(
            'Clients',
            'Bps',
            'Bytes from and to clients.',
            [rate('etcd_network_client_grpc_received_bytes_total'), '{{instance}} in'],
            [rate('etcd_network_client_grpc_sent_bytes_total'), '{{instance}} out'],
          ),
        ],
      },
    ],
  },
  {
    id: 'engram-writes',
    title: 'Engram / Writes, reads and watches',
    rows: [
      {
        title: 'Writes',
        panels: [
          panel('Records', 'ops', 'Appended to the log.', [rate('engram_log_records_total'), '{{instance}}']),
          panel(
            'Append, 99 % and half',
            's',
            'A sync of the disk, or a transaction of TiKV.',
            [quantile(0.99, 'etcd_disk_wal_fsync_duration_seconds', 'instance'), '{{instance}} 99 %'],
            [quantile(0.5, 'etcd_disk_wal_fsync_duration_seconds', 'instance'), '{{instance}} half'],
          ),
          panel('Commit, 99 %', 's', 'From a batch to its effect.', [
            quantile(0.99, 'etcd_disk_backend_commit_duration_seconds', 'instance'),
            '{{instance}}',
          ]),
          panel('Writes under way', 'short', 'Decided, and without an answer.', [
            gauge('etcd_server_proposals_pending'),
            '{{instance}}',
          ]),
          panel('Writes that fail', 'ops', 'No leader, or no room.', [
            rate('etcd_server_proposals_failed_total'),
            '{{instance}}',
          ]),
          panel('Behind the log', 'short', 'Records that a member has not applied.', [
            `scalar(max(${gauge('etcd_server_proposals_committed_total')})) - ${gauge('etcd_server_proposals_applied_total')}`,
            '{{instance}}',
          ]),
        ],
      },
      {
        title: 'Watches and leases',
        panels: [
          panel(
            'Watchers',
            'short',
            'All, and those that are behind.',
            [gauge('etcd_debugging_mvcc_watcher_total'), '{{instance}}'],
            [gauge('etcd_debugging_mvcc_slow_watcher_total'), '{{instance}} behind'],
          ),
          panel('Events', 'ops', 'Sent to watchers.', [rate('etcd_debugging_mvcc_events_total'), '{{instance}}']),
          panel('Events that wait', 'bytes', 'For watchers that catch up.', [
            gauge('engram_watch_backlog_bytes'),
            '{{instance}}',
          ]),
        ],
      },
      {
        title: 'Store',
        panels: [
          panel(
            'Revisions',
            'short',
            'The newest, and the compacted.',
            [`max(${gauge('etcd_debugging_mvcc_current_revision')})`, 'newest'],
            [`max(${gauge('etcd_debugging_mvcc_compact_revision')})`, 'compacted'],
          ),
          panel('Keys', 'short', 'That live.', [`max(${gauge('etcd_debugging_mvcc_keys_total')})`, 'keys']),
        ],
      },
    ],
  },
  {
    id: 'engram-members',
    title: 'Engram / Members and bounds',
    rows: [
      {
        title: 'Members',
        panels: [
          panel('Term', 'short', "Raft's.", [gauge('engram_term'), '{{instance}}']),
          panel('Late heartbeats', 'ops', 'Of a leader.', [
            rate('etcd_server_heartbeat_send_failures_total'),
            '{{instance}}',
          ]),
          panel('Slow read indexes', 'ops', 'Reads that waited for the leader too long.', [
            rate('etcd_server_slow_read_indexes_total'),
            '{{instance}}',
          ]),
          panel('Start', 'short', 'What it is doing.', [
            `${gauge('engram_start_phase')} == 1`,
            '{{instance}} {{phase}}',
          ]),
        ],
      },
      {
        title: 'Bounds',
        panels: [
          panel('Used share of bounded resources', 'percentunit', 'docs/BOUNDS.md says what they are.', [
            `${gauge('engram_budget_used')} / (${gauge('engram_budget_limit')} > 0)`,
            '{{instance}} {{resource}}',
          ]),
          panel('Refusals', 'ops', 'Clients that met a bound.', [
            rate('engram_budget_refusals_total'),
            '{{instance}} {{resource}}',
          ]),
          panel('Connections', 'short', 'Of clients.', [gauge('engram_client_connections'), '{{instance}}']),
          panel(
            'Descriptors',
            'short',
            'Open, and allowed.',
            [gauge('process_open_fds'), '{{instance}}'],
            [`min(${gauge('process_max_fds')})`, 'allowed'],
          ),
        ],
      },
      {
        title: 'Event loop',
        panels: [
          panel('Long stretches', 'percentunit', 'Share of the time in work above --loop-budget, by who did it.', [
            `sum by (instance, phase) (${rate('engram_loop_stretch_seconds_total')})`,
            '{{instance}} {{phase}}',
          ]),
          panel('The longest', 's', 'Of each method since the start.', [
            `max by (method) (${gauge('engram_loop_longest_stretch_seconds')})`,
            '{{method}}',
          ]),
        ],
      },
      {
        title: 'Log in TiKV',
        panels: [
          panel('Trimming held back', 's', 'By members that need old parts.', [
            `max(${gauge('engram_log_held_seconds')}) or 0 * sum(${gauge('engram_term')})`,
            'held',
          ]),
          panel('Copy on disk', 'bytes', 'What has been fetched of the image.', [
            `${gauge('engram_local_image_bytes')} or 0 * ${gauge('engram_term')}`,
            '{{instance}}',
          ]),
        ],
      },
    ],
  },
];

/** Grafana's JSON. */
export function dashboardJson(dashboard: Dashboard): string {
  const builder = new DashboardBuilder(dashboard.title)
    .uid(dashboard.id)
    .tags(['engram', 'etcd'])
    .refresh('10s')
    .time({ from: 'now-30m', to: 'now' })
    .timezone('browser')
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(
      new QueryVariableBuilder('cluster')
        .label('Cluster')
        .datasource({ type: 'prometheus', uid: '$datasource' })
        .query(`label_values(etcd_server_has_leader{${jobs}}, cluster)`),
    );
  for (const { title, panels } of dashboard.rows) {
    builder.withRow(new RowBuilder(title));
    const width = Math.max(6, Math.floor(24 / Math.min(panels.length, 4)));
    for (const { title: name, unit, text, curves } of panels) {
      const each = new PanelBuilder()
        .title(name)
        .description(text)
        .unit(unit)
        .min(0)
        .height(8)
        .span(width)
        .datasource({ type: 'prometheus', uid: '$datasource' });
      for (const { expr, legend } of curves) each.withTarget(new DataqueryBuilder().expr(expr).legendFormat(legend));
      builder.withPanel(each);
    }
  }
  return `${JSON.stringify(builder.build(), undefined, 2)}\n`;
}

export const expressions: readonly { readonly where: string; readonly expr: string }[] = dashboards.flatMap(
  ({ title, rows }) =>
    rows.flatMap(({ panels }) =>
      panels.flatMap(({ title: name, curves }) => curves.map(({ expr }) => ({ where: `${title}: ${name}`, expr }))),
    ),
);
