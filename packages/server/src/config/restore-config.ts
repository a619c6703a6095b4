import { advertisedProblem, parseInitialCluster } from '../cluster/initial-cluster.ts';
import { parseArguments } from '../flags/flag-parser.ts';
import { ConfigError, FlagValues } from '../flags/flag-values.ts';
import { restoreFlags } from '../flags/restore-flags.ts';
import { hostProblem, parseUrls } from '../flags/urls.ts';

/** What `engram restore` is to do, checked. */
export interface RestoreConfig {
  /** The path of the file. */
  readonly snapshot: string;
  readonly dataDir: string;
  /** 0: the revision stays as it is, and so does the history. */
  readonly bumpRevision: number;
  readonly skipHashCheck: boolean;
  readonly dropAuth: boolean;
  /** For the operator. */
  readonly warnings: readonly string[];
}

export type RestoreArguments =
  | { readonly kind: 'restore'; readonly config: RestoreConfig }
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'usage'; readonly problem: string };

/** The arguments behind `restore`: one file, with flags before and behind it. Throws ConfigError if they make no sense. */
export function restoreArguments(args: readonly string[]): RestoreArguments {
  const values = new FlagValues(restoreFlags);
  const files: string[] = [];
  for (let rest = args; rest.length > 0; ) {
    const parsed = parseArguments(rest, values);
    if (parsed.kind === 'help') return parsed;
    if (parsed.kind === 'wrong') return { kind: 'usage', problem: parsed.problem };
    if (parsed.version) return { kind: 'version' };
    if (parsed.configFile !== undefined) return { kind: 'usage', problem: 'restore takes no --config-file' };
    const [file, ...more] = parsed.rest;
    if (file !== undefined) files.push(file);
    rest = more;
  }
  const [snapshot, second] = files;
  if (snapshot === undefined || snapshot === '' || second !== undefined) {
    return { kind: 'usage', problem: 'snapshot restore requires exactly one argument' };
  }
  return { kind: 'restore', config: { snapshot, ...restoreConfig(values) } };
}

function restoreConfig(values: FlagValues): Omit<RestoreConfig, 'snapshot'> {
  checkMembership(values);
  const bumpRevision = values.number('bump-revision');
  if (bumpRevision > 0 !== values.bool('mark-compacted')) {
    throw new ConfigError(
      `if any flags in the group [bump-revision mark-compacted] are set they must all be set: --mark-compacted is required if --bump-revision > 0, and disallowed otherwise`,
    );
  }
  const without = values.changed().filter(({ group }) => group === 'ignored');
  return {
    dataDir: values.text('data-dir') || `${values.text('name')}.etcd`,
    bumpRevision,
    skipHashCheck: values.bool('skip-hash-check'),
    dropAuth: values.bool('drop-auth'),
    warnings:
      without.length === 0 ? [] : [`flags without effect here: ${without.map(({ name }) => `--${name}`).join(' ')}`],
  };
}

/**
 * A data directory is that of a node that is alone. Such a node takes its name and its URLs from its own flags at each
 * start, so these are checked only.
 */
function checkMembership(values: FlagValues): void {
  const name = values.text('name');
  const list = values.list('initial-advertise-peer-urls').join();
  const urls = parseUrls(list);
  const problem = typeof urls === 'string' ? urls : hostProblem(urls);
  if (typeof urls === 'string' || problem !== undefined) {
    throw new ConfigError(`--initial-advertise-peer-urls ${JSON.stringify(list)}: ${problem}`);
  }
  const own = urls.map(({ text }) => text);
  const members = parseInitialCluster(name, values.text('initial-cluster'), own);
  if (typeof members === 'string') throw new ConfigError(members);
  if (members.length > 1) {
    const all = members.map((member) => member.name).join(', ');
    throw new ConfigError(
      `--initial-cluster names ${members.length} members (${all}): a data directory is restored for a node that is alone; a cluster of more than one keeps its log in TiKV, into which a snapshot cannot be restored yet`,
    );
  }
  const mismatch = advertisedProblem(name, members, own);
  if (mismatch !== undefined) throw new ConfigError(mismatch);
}
