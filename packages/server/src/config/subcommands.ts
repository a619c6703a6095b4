import type { EtcdAddress } from '@engram/migration';
import type { ClusterConfig } from '../cluster/cluster-config.ts';
import { ConfigError } from '../flags/flag-values.ts';
import { type MirrorConfig, mirrorArguments } from './mirror-config.ts';
import type { NodeConfig } from './node-config.ts';
import { type RestoreConfig, restoreArguments } from './restore-config.ts';

/** What the process is to do. */
export type ProcessTask =
  | { readonly kind: 'config'; readonly config: NodeConfig }
  | { readonly kind: 'inspect'; readonly cluster: ClusterConfig }
  | { readonly kind: 'health'; readonly config: NodeConfig }
  | { readonly kind: 'migrate'; readonly config: NodeConfig; readonly from: EtcdAddress }
  | { readonly kind: 'cut-over'; readonly config: NodeConfig }
  | { readonly kind: 'mirror'; readonly config: MirrorConfig }
  | { readonly kind: 'restore'; readonly config: RestoreConfig };

export type Configuration =
  | ProcessTask
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  /** The arguments are wrong: the process prints the text and usage, and exits with code 2. */
  | { readonly kind: 'usage'; readonly problem: string };

/** A first argument that is no flag, and what it makes of those behind it. Both throw ConfigError if these do not suit it. */
export type Subcommand =
  /** Takes the flags of a member, from the command line, the environment or a file. */
  | { readonly flags: 'of a member'; readonly task: (config: NodeConfig) => ProcessTask }
  /** Reads the command line alone. */
  | { readonly flags: 'of its own'; readonly read: (args: readonly string[]) => Configuration };

/** The commands of the program, by name. Without one it runs a member. */
export const subcommands: ReadonlyMap<string, Subcommand> = new Map<string, Subcommand>([
  ['health', { flags: 'of a member', task: (config) => ({ kind: 'health', config }) }],
  [
    'inspect-storage',
    {
      flags: 'of a member',
      task: ({ cluster }) => {
        if (cluster !== undefined) return { kind: 'inspect', cluster };
        throw new ConfigError('inspect-storage needs --storage=tikv and --tikv-pd-endpoints');
      },
    },
  ],
  [
    'migrate',
    {
      flags: 'of a member',
      task: (config) => {
        if (config.from !== undefined) return { kind: 'migrate', config, from: config.from };
        throw new ConfigError('migrate needs --from, the endpoints of the etcd to follow');
      },
    },
  ],
  ['cut-over', { flags: 'of a member', task: (config) => ({ kind: 'cut-over', config }) }],
  ['mirror', { flags: 'of its own', read: mirrorArguments }],
  ['restore', { flags: 'of its own', read: restoreArguments }],
]);

/** Commands of etcd that this program does not have. */
export const unsupported: ReadonlySet<string> = new Set(['gateway', 'grpc-proxy']);
