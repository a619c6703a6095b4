// One member: reading its configuration, and running it.
export { readConfiguration, type Configuration } from './src/config/configuration.ts';
export type { NodeConfig } from './src/config/node-config.ts';
export { startNode, type NodeOptions, type RunningNode } from './src/node.ts';
export type { BoundListener } from './src/start/open-listeners.ts';

// `engram restore`, for the program of the operator.
export { restoreHere } from './src/restore/restore-here.ts';
export { SnapshotFile } from './src/restore/snapshot-file.ts';
