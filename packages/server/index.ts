// One node: its configuration, and running it.
export { readConfiguration, type Configuration } from './src/configuration.ts';
export type { NodeConfig } from './src/node-config.ts';
export { startNode, type NodeOptions, type RunningNode, type BoundListener } from './src/node.ts';
