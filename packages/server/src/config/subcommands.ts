import type { ClusterConfig } from '../cluster/cluster-config.ts';
import { ConfigError } from '../flags/flag-values.ts';
import type { NodeConfig } from './node-config.ts';

/** What the process is to do with the configuration of a member. */
export type Task =
  | { readonly kind: 'config'; readonly config: NodeConfig }
  | { readonly kind: 'inspect'; readonly cluster: ClusterConfig }
  | { readonly kind: 'health'; readonly config: NodeConfig };

/** A first argument that is no flag, and what it makes of the flags behind it. Throws ConfigError if they do not suit it. */
export type Subcommand = (config: NodeConfig) => Task;

/** The commands of the program, by name. Without one it runs a member. */
export const subcommands: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  ['health', (config) => ({ kind: 'health', config })],
  [
    'inspect-storage',
    ({ cluster }) => {
      if (cluster === undefined) throw new ConfigError('inspect-storage needs --storage=tikv and --tikv-pd-endpoints');
      return { kind: 'inspect', cluster };
    },
  ],
]);

/** Commands of etcd that this program does not have. */
export const unsupported: ReadonlySet<string> = new Set(['gateway', 'grpc-proxy']);
