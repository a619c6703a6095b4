import type { EtcdAddress } from '@engram/migration';
import { parseArguments } from '../flags/flag-parser.ts';
import { ConfigError, FlagValues } from '../flags/flag-values.ts';
import { mirrorFlags } from '../flags/mirror-flags.ts';
import { etcdAddress } from './migration-config.ts';

/** What `engram mirror` is to do, checked. */
export interface MirrorConfig {
  readonly from: EtcdAddress;
  readonly to: EtcdAddress;
  readonly untilEqual: boolean;
}

export type MirrorArguments =
  | { readonly kind: 'mirror'; readonly config: MirrorConfig }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'usage'; readonly problem: string };

/** The arguments behind `mirror`. Throws ConfigError if they make no sense. */
export function mirrorArguments(args: readonly string[]): MirrorArguments {
  const values = new FlagValues(mirrorFlags);
  const parsed = parseArguments(args, values);
  if (parsed.kind === 'help') return parsed;
  if (parsed.kind === 'wrong') return { kind: 'usage', problem: parsed.problem };
  if (parsed.version) return { kind: 'version' };
  if (parsed.configFile !== undefined) return { kind: 'usage', problem: 'mirror takes no --config-file' };
  if (parsed.rest.length > 0)
    return { kind: 'usage', problem: `mirror takes no argument ${JSON.stringify(parsed.rest[0])}` };
  const [from, to] = [etcdAddress(values, 'from'), etcdAddress(values, 'to')];
  if (from === undefined) throw new ConfigError('--from must not be empty');
  if (to === undefined) throw new ConfigError('mirror needs --to, the endpoints of the etcd to write to');
  return { kind: 'mirror', config: { from, to, untilEqual: values.bool('until-equal') } };
}
