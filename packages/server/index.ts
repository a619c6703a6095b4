// One member: reading its configuration, and running it.
export { readConfiguration, type Configuration } from './src/config/configuration.ts';
export type { NodeConfig } from './src/config/node-config.ts';
export { startNode, type NodeOptions, type RunningNode } from './src/node.ts';
export type { BoundListener } from './src/start/open-listeners.ts';

// `engram migrate`, `cut-over` and `mirror`, for the program of the operator.
export { runMigration } from './src/run-node.ts';
export { askForCutOver } from './src/migrate/cut-over-socket.ts';
export { mirror } from './src/migrate/mirror.ts';

// `engram restore`, and what reads a store that does not run.
export { restoreHere } from './src/restore/restore-here.ts';
export { ConfigError } from './src/flags/flag-values.ts';
export { SnapshotFile } from './src/restore/snapshot-file.ts';
export { StoppedStore } from './src/restore/stopped-store.ts';
