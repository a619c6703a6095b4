/**
 * The rooms of a package as data: the folders of its src/, from the lowest up, and what each may import of those before
 * it. `.` is the files of src/ itself, which may import every folder; a folder imports them only if it lists them. `gen`
 * and `testing` are no rooms. A package whose files lie in src/ alone has no entry. Permissions that no file uses are
 * refused.
 */
export const folders: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  wire: { messages: ['.'] },
  'raft-ts': { codec: ['.'] },
  election: {
    cluster: [],
    codec: ['.', 'cluster'],
    membership: ['.', 'cluster', 'codec'],
    driver: ['.', 'cluster', 'codec', 'membership'],
  },
  'etcd-api': { auth: ['.'], snapshot: ['.'], locks: ['.', 'auth'] },
  gateway: { json: [] },
  transport: {
    h2: ['.'],
    grpc: ['.', 'h2'],
    http: ['.', 'h2'],
    'grpc-js': ['.', 'http'],
  },
  'tikv-client': {
    runtime: ['.'],
    backoff: ['.', 'runtime'],
    codec: ['.'],
    http2: [],
    transport: ['.', 'runtime', 'http2'],
    pd: ['.', 'runtime', 'backoff', 'transport'],
    region: ['.', 'runtime', 'backoff', 'codec', 'transport', 'pd'],
    txn: ['.', 'runtime', 'backoff', 'codec', 'transport', 'region'],
    gc: ['.', 'runtime', 'backoff', 'transport', 'pd', 'region', 'txn'],
    admin: ['.', 'runtime', 'codec', 'transport', 'region'],
  },
  'storage-segment': {
    disk: [],
    format: ['disk'],
    manifest: ['disk', 'format'],
    segments: ['disk', 'format', 'manifest'],
    cleaner: ['disk', 'format', 'manifest', 'segments'],
    log: ['disk', 'format', 'manifest', 'segments'],
  },
  'storage-tikv': {
    format: [],
    log: ['format'],
    image: ['format', 'log'],
    needs: ['format', 'log', 'image'],
    copy: ['format', 'log', 'image'],
  },
  telemetry: { profiles: [] },
  server: {
    flags: [],
    tls: ['flags'],
    auth: ['flags'],
    cluster: ['flags', 'tls'],
    config: ['flags', 'tls', 'auth', 'cluster'],
    start: ['flags', 'tls', 'cluster', 'config'],
    http: ['.'],
    restore: ['.', 'flags', 'config', 'start'],
    migrate: ['.', 'flags', 'config', 'cluster', 'start', 'restore'],
  },
  engramctl: {
    cli: [],
    print: [],
    kube: [],
    client: ['cli'],
    check: ['cli', 'print', 'client'],
    inspect: ['.', 'cli', 'print', 'kube', 'client'],
    compare: ['cli', 'print', 'kube', 'client', 'inspect'],
  },
  backend: {
    apply: ['.'],
    auth: ['.'],
    publish: ['apply'],
    checkpoint: ['apply'],
    image: ['.', 'apply', 'checkpoint'],
    replica: ['.', 'apply', 'publish', 'checkpoint', 'image'],
    decide: ['.', 'apply', 'replica'],
    read: ['.', 'apply', 'replica', 'decide'],
    answer: ['.', 'apply', 'decide'],
    write: ['.', 'apply', 'auth', 'replica', 'decide', 'answer'],
    lead: ['.', 'apply', 'auth', 'replica', 'decide', 'answer', 'write'],
  },
  'watch-hub': {
    events: [],
    live: ['.', 'events'],
    'catch-up': ['.', 'events', 'live'],
    streams: ['.', 'live', 'catch-up'],
  },
  sim: { model: [] },
};

/**
 * Files of one package that import one another in a circle, each with its reason. No other circle is allowed, also not of
 * types.
 */
export const circles: readonly { readonly files: readonly string[]; readonly why: string }[] = [
  {
    files: ['candidate', 'follower', 'leader', 'raft', 'replication'].map((name) => `packages/raft-ts/src/${name}.ts`),
    why: 'one state machine: a file for what it does in each role, which changes the role',
  },
  {
    files: ['packages/tikv-client/src/txn/scanner.ts', 'packages/tikv-client/src/txn/snapshot.ts'],
    why: 'a scan is a method of a snapshot, and reads through it',
  },
  {
    files: ['packages/tikv-client/src/testing/fake-channel.ts', 'packages/tikv-client/src/testing/fake-cluster.ts'],
    why: 'a channel of the fake brings requests to its cluster',
  },
  {
    files: ['packages/transport/src/h2/receive-flow.ts', 'packages/transport/src/h2/stream.ts'],
    why: 'a stream has a part in the flow control of its connection, which keeps its streams',
  },
  {
    files: ['packages/transport/src/h2/lead.ts', 'packages/transport/src/h2/request-head.ts'],
    why: 'a head keeps the target that was looked up for it',
  },
  {
    files: ['packages/watch-hub/src/live/range-node.ts', 'packages/watch-hub/src/live/watcher-state.ts'],
    why: 'a watcher knows its place among the watchers of its range',
  },
  {
    files: ['packages/sim/src/sim-disk.ts', 'packages/sim/src/sim-file.ts'],
    why: 'a file of the simulated disk asks the disk for its faults',
  },
];
