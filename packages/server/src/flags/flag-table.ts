import { TURN_MS } from '@engram/loop';

/**
 * How a flag's text is read. `strings` is a comma-separated list, `urls` a comma-separated list of URLs. `int`, `uint`
 * and `uint32` are integer literals of Go. `choice` is one of `choices`, `gates` a list of Name=true|false.
 */
export type FlagType =
  | 'string'
  | 'bool'
  | 'int'
  | 'uint'
  | 'uint32'
  | 'duration'
  | 'urls'
  | 'strings'
  | 'choice'
  | 'gates';

/**
 * - works: has the effect of etcd's flag.
 * - ignored: concerns etcd's Raft, bbolt or Go runtime, or a function that does not exist yet and is not needed. It is
 *   accepted, and one warning names all such flags that are set.
 * - refused: ignoring it would be unsafe, or not what the operator meant. Any value except the default ends the start
 *   with a clear error.
 */
export type FlagGroup = 'works' | 'ignored' | 'refused';

export interface FlagSpec {
  readonly name: string;
  readonly type: FlagType;
  /** The default, as typed on the command line. */
  readonly value: string;
  readonly group: FlagGroup;
  /** One line for --help. For a refused flag it also says why. */
  readonly help: string;
  /** Of a `choice`: the only texts that are valid. */
  readonly choices?: readonly string[];
}

export interface FlagSection {
  readonly title: string;
  readonly flags: readonly FlagSpec[];
}

const section = (title: string, ...flags: readonly FlagSpec[]): FlagSection => ({ title, flags });
const works = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  name,
  type,
  value,
  group: 'works',
  help,
});
const choice = (name: string, value: string, choices: readonly string[], help: string): FlagSpec => ({
  ...works(name, 'choice', value, help),
  choices,
});
const ignored = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  ...works(name, type, value, help),
  group: 'ignored',
});
const refused = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  ...works(name, type, value, help),
  group: 'refused',
});

/** Every flag of etcd 3.7 (server/embed/config.go AddFlags, server/etcdmain/config.go), then the flags of Engram. */
export const flagSections: readonly FlagSection[] = [
  section(
    'Member',
    works('name', 'string', 'default', 'Human-readable name of this member.'),
    works('data-dir', 'string', '', 'Path to the data directory; empty: the name with .etcd behind it.'),
    ignored('wal-dir', 'string', '', 'The log and the data are one, below --data-dir.'),
    ignored('snapshot-count', 'uint', '10000', "Raft's log holds the membership only, and is cut by itself."),
    ignored('snapshot-catchup-entries', 'uint', '5000', "Raft's log holds the membership only."),
    works('heartbeat-interval', 'uint', '100', 'Milliseconds between heartbeats.'),
    works('election-timeout', 'uint', '1000', 'Milliseconds; sets the shortest lease and how long a request may wait.'),
    ignored('initial-election-tick-advance', 'bool', 'true', 'Raft elections: a member waits for its first timeout.'),
    works(
      'listen-peer-urls',
      'urls',
      'http://localhost:2380',
      'URLs to listen on for the other members, with --storage=tikv.',
    ),
    works('listen-client-urls', 'urls', 'http://localhost:2379', 'URLs to serve clients on: gRPC and HTTP.'),
    works('listen-client-http-urls', 'urls', '', 'URLs to serve HTTP alone on; the client URLs are then gRPC alone.'),
    ignored('max-snapshots', 'uint', '5', 'Snapshot files: there are none.'),
    ignored('max-wals', 'uint', '5', 'WAL files: there are none.'),
    ignored('memory-mlock', 'bool', 'false', 'Locking of bbolt pages: there are none.'),
    works(
      'quota-backend-bytes',
      'int',
      '0',
      'Bytes that the data may take before writes stop; 0: 2 GiB, negative: no bound.',
    ),
    ignored('backend-bbolt-freelist-type', 'string', 'map', 'bbolt: not used.'),
    ignored('backend-batch-interval', 'duration', '0s', 'bbolt: not used.'),
    ignored('backend-batch-limit', 'int', '0', 'bbolt: not used.'),
    works(
      'max-txn-ops',
      'uint',
      '128',
      'Operations that a transaction may have; eight times as many with those nested in it.',
    ),
    works('max-request-bytes', 'uint', '1572864', 'Bytes that a write request may have.'),
    works('max-concurrent-streams', 'uint32', '4294967295', 'Streams that a connection may have open at a time.'),
    works('grpc-keepalive-min-time', 'duration', '5s', 'Shortest time between two pings of a client.'),
    works('grpc-keepalive-interval', 'duration', '2h', 'Time after which an idle connection is pinged; 0: never.'),
    works('grpc-keepalive-timeout', 'duration', '20s', 'Time to wait for the answer to a ping; 0: never ping.'),
    ignored('socket-reuse-port', 'bool', 'false', 'SO_REUSEPORT: the port is ours alone.'),
    ignored('socket-reuse-address', 'bool', 'false', 'SO_REUSEADDR: always set.'),
    works('enable-grpc-gateway', 'bool', 'true', 'JSON over HTTP on client URLs, at /v3/.'),
    ignored('raft-read-timeout', 'duration', '5s', 'Connections between members: their keepalive settings are fixed.'),
    ignored('raft-write-timeout', 'duration', '5s', 'Connections between members: their keepalive settings are fixed.'),
    works(
      'feature-gates',
      'gates',
      '',
      'Name=true|false pairs; every gate of etcd is known, none changes what a node does.',
    ),
  ),
  section(
    'Clustering',
    works(
      'initial-advertise-peer-urls',
      'urls',
      'http://localhost:2380',
      "This member's peer URLs, as the member list shows them.",
    ),
    works(
      'initial-cluster',
      'string',
      '',
      'name=peerURL list; empty: this member. More than one name needs --storage=tikv.',
    ),
    choice('initial-cluster-state', 'new', ['new', 'existing'], "'new' or 'existing'."),
    works(
      'initial-cluster-token',
      'string',
      'etcd-cluster',
      'Part of the ids of a cluster on TiKV, and its prefix there; a lone node draws its id at random.',
    ),
    works(
      'advertise-client-urls',
      'urls',
      'http://localhost:2379',
      "This member's client URLs, as the member list shows them.",
    ),
    refused('discovery-token', 'string', '', 'Discovery by a service: see --discovery-srv.'),
    refused('discovery-endpoints', 'strings', '', 'Discovery by a service: see --discovery-srv.'),
    ignored('discovery-dial-timeout', 'duration', '2s', 'Discovery.'),
    ignored('discovery-request-timeout', 'duration', '5s', 'Discovery.'),
    ignored('discovery-keepalive-time', 'duration', '2s', 'Discovery.'),
    ignored('discovery-keepalive-timeout', 'duration', '6s', 'Discovery.'),
    ignored('discovery-insecure-transport', 'bool', 'true', 'Discovery.'),
    ignored('discovery-insecure-skip-tls-verify', 'bool', 'false', 'Discovery.'),
    ignored('discovery-cert', 'string', '', 'Discovery.'),
    ignored('discovery-key', 'string', '', 'Discovery.'),
    ignored('discovery-cacert', 'string', '', 'Discovery.'),
    ignored('discovery-user', 'string', '', 'Discovery.'),
    ignored('discovery-password', 'string', '', 'Discovery.'),
    { ...ignored('discovery-fallback', 'choice', 'exit', 'Discovery.'), choices: ['exit', 'proxy'] },
    works('discovery-srv', 'string', '', 'Domain whose SRV records name the members, instead of --initial-cluster.'),
    works('discovery-srv-name', 'string', '', 'Part of the names of these records: _etcd-server-<name>._tcp.'),
    works('strict-reconfig-check', 'bool', 'true', 'Refuse changes of the membership that would cost the quorum.'),
    works('pre-vote', 'bool', 'true', 'Ask before an election whether it could be won.'),
    works(
      'auto-compaction-retention',
      'string',
      '0',
      'What automatic compaction keeps: hours or a duration, or revisions; 0: it is off.',
    ),
    works('auto-compaction-mode', 'string', 'periodic', "How the retention is meant: 'periodic' or 'revision'."),
    {
      ...ignored('v2-deprecation', 'choice', 'write-only-drop-data', 'The v2 store: there is none.'),
      choices: ['write-only', 'write-only-skip-check', 'write-only-drop-data', 'gone'],
    },
    works('max-learners', 'int', '1', 'Learners that a cluster may have.'),
    works(
      'force-new-cluster',
      'bool',
      'false',
      'This member goes on as a cluster of one, with all data: after the loss of most members.',
    ),
    works(
      'skip-raft-entries',
      'strings',
      '',
      'Indexes of committed entries of the Raft log that have no effect, because no member can read them; on all members.',
    ),
  ),
  section(
    'Security',
    works('cert-file', 'string', '', 'Certificate that clients see.'),
    works('key-file', 'string', '', 'Key of the certificate that clients see.'),
    works('client-cert-auth', 'bool', 'false', 'Clients must show a certificate of --trusted-ca-file.'),
    ignored('client-cert-file', 'string', '', 'For connections of the server to itself: there are none.'),
    ignored('client-key-file', 'string', '', 'For connections of the server to itself: there are none.'),
    works('client-crl-file', 'string', '', 'Client certificates that are revoked, in PEM or DER.'),
    works(
      'client-cert-allowed-hostname',
      'strings',
      '',
      'Names of which the certificate of a client must have one; empty: any.',
    ),
    works('trusted-ca-file', 'string', '', 'CA of client certificates.'),
    works('auto-tls', 'bool', 'false', 'Serve clients with a certificate that is made at the first start.'),
    works('peer-cert-file', 'string', '', 'Certificate of this member, shown to the others.'),
    works('peer-key-file', 'string', '', 'Key of --peer-cert-file.'),
    works('peer-client-cert-auth', 'bool', 'false', 'Ask other members for a certificate of --peer-trusted-ca-file.'),
    works('peer-client-cert-file', 'string', '', 'Shown to members that are dialed; empty: --peer-cert-file.'),
    works('peer-client-key-file', 'string', '', 'Key of --peer-client-cert-file.'),
    works('peer-trusted-ca-file', 'string', '', 'Authority of the members; asks them for certificates.'),
    works(
      'peer-cert-allowed-cn',
      'strings',
      '',
      'CommonNames of which the certificate of a member must have one; empty: any.',
    ),
    works(
      'peer-cert-allowed-hostname',
      'strings',
      '',
      'Names of which the certificate of a member must have one; empty: any. Not with --peer-cert-allowed-cn.',
    ),
    works(
      'peer-auto-tls',
      'bool',
      'false',
      'Encrypt between members with certificates that each makes at its first start; proves nobody.',
    ),
    works('peer-crl-file', 'string', '', "Members' certificates that are revoked, in PEM or DER."),
    works(
      'peer-skip-client-san-verification',
      'bool',
      'false',
      'The names in the certificates of members that dial are not held against the addresses that they dial from.',
    ),
    works(
      'self-signed-cert-validity',
      'uint',
      '1',
      'Years for which the certificates of --auto-tls and --peer-auto-tls are valid.',
    ),
    works(
      'cipher-suites',
      'strings',
      '',
      "Cipher suites for TLS 1.2, by Go's names; with clients and between members.",
    ),
    works('cors', 'strings', '*', 'Origins that browsers may ask from; * or empty: all.'),
    works('host-whitelist', 'strings', '*', 'Host names that HTTP requests without TLS may ask for; * or empty: all.'),
    works('tls-min-version', 'string', 'TLS1.2', 'TLS1.2 or TLS1.3; with clients and between members.'),
    works('tls-max-version', 'string', '', 'TLS1.2 or TLS1.3; empty: the newest.'),
  ),
  section(
    'Auth',
    works('auth-token', 'string', 'simple', 'simple; jwt,sign-method=M,pub-key=F,priv-key=F,ttl=5m; empty: none.'),
    works('bcrypt-cost', 'uint', '10', 'Cost of the hashes of passwords, 4 to 31.'),
    works('auth-token-ttl', 'uint', '300', 'Seconds that a simple token lives after its last use.'),
  ),
  section(
    'Profiling and Monitoring',
    ignored('enable-pprof', 'bool', 'false', "Go's profiler: there is none."),
    works(
      'metrics',
      'string',
      'basic',
      "'extensive' adds how long calls take, for each method; any other text is basic.",
    ),
    works('listen-metrics-urls', 'urls', '', 'More URLs for /metrics, /health, /livez and /readyz.'),
  ),
  section(
    'Logging',
    works('logger', 'string', 'zap', "'zap': the shape of the log lines."),
    works('log-outputs', 'strings', 'default', "'default' (stderr), 'stderr', 'stdout', or paths of files."),
    works('log-level', 'string', 'info', 'debug, info, warn, error, dpanic, panic or fatal, in any case.'),
    works('log-format', 'string', 'json', 'json or console.'),
    ignored('enable-log-rotation', 'bool', 'false', 'Rotation is for the tool that collects the logs.'),
    ignored(
      'log-rotation-config-json',
      'string',
      '{"maxsize": 100, "maxage": 0, "maxbackups": 0, "localtime": false, "compress": false}',
      'Log rotation.',
    ),
    works('warning-unary-request-duration', 'duration', '300ms', 'Unary calls that take longer are logged.'),
  ),
  section(
    'Distributed tracing',
    works('enable-distributed-tracing', 'bool', 'false', 'Traces calls by OpenTelemetry.'),
    works(
      'distributed-tracing-address',
      'string',
      'localhost:4317',
      'Host and port of the collector: OTLP over gRPC in plain text. OTEL_EXPORTER_OTLP_ENDPOINT and the like if this is not set.',
    ),
    works(
      'distributed-tracing-service-name',
      'string',
      'etcd',
      'service.name of all spans. OTEL_SERVICE_NAME if this is not set.',
    ),
    works(
      'distributed-tracing-instance-id',
      'string',
      '',
      'service.instance.id of all spans, different on each member.',
    ),
    works(
      'distributed-tracing-sampling-rate',
      'int',
      '0',
      'Of a million calls whose client names no trace, so many are traced. A client that names one decides itself.',
    ),
    works(
      'distributed-tracing-calls-per-second',
      'int',
      '200',
      'So many calls of clients are traced in a second at most, whoever asks for it. 0: no bound.',
    ),
    works(
      'distributed-tracing-record-keys',
      'bool',
      'false',
      'Spans have whole keys. Otherwise the first two segments of a key, such as /registry/secrets.',
    ),
  ),
  section(
    'Features',
    works(
      'corrupt-check-time',
      'duration',
      '0s',
      'Time between two comparisons of the data of all members of a cluster; 0: never. A difference raises the alarm CORRUPT.',
    ),
    works(
      'compact-hash-check-time',
      'duration',
      '1m',
      'The same at the last compaction, with the feature gate CompactHashCheck.',
    ),
    ignored('compaction-batch-limit', 'int', '0', 'Compaction paces itself.'),
    ignored('compaction-sleep-interval', 'duration', '0s', 'Compaction paces itself.'),
    works('watch-progress-notify-interval', 'duration', '10m', 'Time between progress notifications; at least 100ms.'),
    works('warning-apply-duration', 'duration', '100ms', 'Writes, and commits to disk, that take longer are logged.'),
    ignored('bootstrap-defrag-threshold-megabytes', 'uint', '0', 'Defragmentation: the storage does it by itself.'),
    ignored(
      'downgrade-check-time',
      'duration',
      '5s',
      'Versions of members are not compared: a downgrade cannot be enabled.',
    ),
  ),
  section('Unsafe', ignored('unsafe-no-fsync', 'bool', 'false', 'Every acknowledged write is synced.')),
  section(
    'Of Engram alone',
    works(
      'transport',
      'string',
      'native',
      "'native': our own HTTP/2. 'grpc-js': the library @grpc/grpc-js, slower, to compare with.",
    ),
    works(
      'storage',
      'string',
      'auto',
      "'segment', 'leveldb': on disk. 'auto': what the data directory holds; a new one gets 'segment'. 'memory': all is gone at the end; for tests and measurements. 'tikv': the log is in TiKV, for clusters of several members.",
    ),
    works(
      'scrub-bytes-per-second',
      'uint',
      '1048576',
      'How fast a node that is alone reads back what its disk holds, to find damage; 0: it does not. An hour after a pass the next one begins.',
    ),
    works('tikv-pd-endpoints', 'strings', '', "PD's endpoints, host:port each, for --storage=tikv."),
    works('tikv-prefix', 'string', '', 'Tells the clusters on one TiKV apart; empty: --initial-cluster-token.'),
    works('tikv-cacert', 'string', '', 'Authority of PD and TiKV; asks for TLS.'),
    works('tikv-cert', 'string', '', 'Certificate shown to PD and TiKV.'),
    works('tikv-key', 'string', '', 'Key of --tikv-cert.'),
    works(
      'local-values',
      'string',
      'disk',
      "'disk': a copy of the log in the data directory, which may be lost. 'memory': only what was used last; the rest is read from TiKV.",
    ),
    works(
      'image-every-bytes-min',
      'uint',
      '268435456',
      'With --storage=tikv: the leader writes a new image of the store when the log behind the last one is as large as that; at least so many bytes.',
    ),
    works('image-every-bytes-max', 'uint', '4294967296', 'As --image-every-bytes-min: at most so many bytes.'),
    works('image-bytes-per-second', 'uint', '16777216', 'How fast an image is written.'),
    works(
      'image-interval',
      'duration',
      '5s',
      'How often a member says which part of the log it needs, and the leader looks whether an image is due, or the log can be trimmed.',
    ),
    works(
      'log-member-timeout',
      'duration',
      '10m',
      'A member that has been silent for so long does not keep the log in TiKV from being trimmed; it starts again from the image. So does one that is not silent, and needs what the others do not for three times as long.',
    ),
    works(
      'tikv-gc-retention',
      'duration',
      '1h',
      "The leader moves TiKV's safe point, below which old versions are collected, so far behind the time, if nobody else has moved it for as long; 0: never. To be 0 where TiDB uses the same TiKV and keeps versions for longer, or has its collection switched off.",
    ),
    works(
      'revision-origin',
      'string',
      'sequence',
      "Of a new cluster with --storage=tikv: 'sequence': revisions begin at 1, as etcd's. 'timestamp': at PD's time in microseconds, so that clients of an earlier cluster never see them go back; what lies below counts as compacted.",
    ),
    works('log-segment-bytes', 'uint', '67108864', 'The log in TiKV is trimmed in segments of this size.'),
    works(
      'loop-budget',
      'duration',
      `${TURN_MS}ms`,
      'Work that keeps the event loop for longer is counted, by who did it, and logged.',
    ),
    works(
      'loop-budget-cpu',
      'bool',
      'false',
      'Only the CPU time of such work counts: where a machine is busy with other things.',
    ),
    works('loop-budget-fatal', 'bool', 'false', 'Such work ends the node, where its CPU time was as much: for tests.'),
  ),
  section(
    'Bounds of Engram alone',
    works(
      'memory-limit',
      'int',
      '0',
      "Bytes of memory that the node may take: those of the bounds below that are not given follow from it. 0: the control group's, negative: none.",
    ),
    works('max-received-bytes', 'uint', '536870912', 'Bytes of requests that come in, wait or run, of all clients.'),
    works('max-answer-bytes', 'uint', '536870912', 'Bytes of answers and events that clients have not taken yet.'),
    works('max-streams', 'uint', '262144', 'Open streams of all connections.'),
    works('max-watcher-bytes', 'uint', '536870912', 'What watchers take of memory, about 1.5 KiB and their keys each.'),
    works('log-queue-bytes', 'uint', '268435456', 'Bytes of writes that wait for the log.'),
    works('watch-backlog-bytes', 'uint', '33554432', 'Bytes of events kept for watchers that read history.'),
    works('value-cache-bytes', 'uint', '134217728', 'Bytes of memory for values that were read lately.'),
    works('local-values-bytes', 'uint', '268435456', 'Bytes of memory for --local-values=memory.'),
    works('copy-queue-bytes', 'uint', '67108864', 'Bytes of the log that wait for the disk of --local-values=disk.'),
    works('copy-cache-bytes', 'uint', '25165824', 'Bytes of memory for what --local-values=disk has read from TiKV.'),
    works(
      'follower-feed-bytes',
      'uint',
      '33554432',
      'Bytes of the newest writes that a leader keeps for its followers.',
    ),
    works(
      'max-connections',
      'uint',
      '0',
      'Connections of clients; 0: as many as descriptors and --memory-limit allow, less what the store needs.',
    ),
    works(
      'max-descriptors',
      'uint',
      '0',
      'File descriptors that the process may have open; 0: the limit of the system.',
    ),
  ),
];

/** Flags that etcd still parses and silently ignores (server/etcdmain/config.go). */
export const forgottenFlags: readonly string[] = [
  'cluster-active-size',
  'cluster-remove-delay',
  'cluster-sync-interval',
  'config',
  'force',
  'max-result-buffer',
  'max-retry-attempts',
  'peer-heartbeat-interval',
  'peer-election-timeout',
  'retry-interval',
  'snapshot',
  'v',
  'vv',
];

export const flagTable: ReadonlyMap<string, FlagSpec> = new Map(
  flagSections.flatMap(({ flags }) => flags.map((flag) => [flag.name, flag])),
);

/** As in etcd, only a configuration file can restrict the CommonNames of clients. */
export const fileOnlySettings: ReadonlyMap<string, FlagSpec> = new Map(
  [
    works('client-cert-allowed-cn', 'strings', '', 'CommonNames of which the certificate of a client must have one.'),
  ].map((spec) => [spec.name, spec]),
);

/**
 * Whether a name that is no flag, variable or key is likely to have been meant to restrict who may connect. A member does
 * not start with such a name: it would serve those whom the operator believes to be refused.
 */
export function soundsRestricting(name: string): boolean {
  return /allow|crl|revo[ck]|cert-?auth|trusted|verif|whitelist|security/.test(name.toLowerCase().replaceAll('_', '-'));
}
