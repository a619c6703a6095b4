import { type ClusterConfig, tikvPrefix, tikvTls } from '../cluster/cluster-config.ts';
import { advertisedProblem, type InitialMember, parseInitialCluster } from '../cluster/initial-cluster.ts';
import { parseArguments } from '../flags/flag-parser.ts';
import { ConfigError, FlagValues } from '../flags/flag-values.ts';
import { restoreFlags } from '../flags/restore-flags.ts';
import { hostProblem, parseUrls } from '../flags/urls.ts';

/** What `engram restore` is to do, checked. */
export interface RestoreConfig {
  /** The path of the file. */
  readonly snapshot: string;
  /** What is made; with `cluster` the place of a working copy, which is removed again. */
  readonly dataDir: string;
  /** Undefined: a data directory is made. */
  readonly cluster: RestoredCluster | undefined;
  /** 0: the revision stays as it is, and so does the history. */
  readonly bumpRevision: number;
  readonly skipHashCheck: boolean;
  readonly dropAuth: boolean;
  /** For the operator. */
  readonly warnings: readonly string[];
}

/** A cluster on TiKV whose store is restored. */
export interface RestoredCluster extends Pick<ClusterConfig, 'pdEndpoints' | 'tikvTls' | 'prefix' | 'token'> {
  readonly members: readonly InitialMember[];
  /** Replaces what a restore that was ended has left. */
  readonly discardUnfinished: boolean;
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

/** Flags that have an effect only with --storage=tikv. */
const tikvFlags: readonly string[] = [
  'tikv-pd-endpoints',
  'tikv-prefix',
  'tikv-cacert',
  'tikv-cert',
  'tikv-key',
  'discard-unfinished',
];

function restoreConfig(values: FlagValues): Omit<RestoreConfig, 'snapshot'> {
  const cluster = restoredCluster(values);
  const bumpRevision = values.number('bump-revision');
  if (bumpRevision > 0 !== values.bool('mark-compacted')) {
    throw new ConfigError(
      `if any flags in the group [bump-revision mark-compacted] are set they must all be set: --mark-compacted is required if --bump-revision > 0, and disallowed otherwise`,
    );
  }
  const without = values
    .changed()
    .filter(({ group, name }) => group === 'ignored' && !(name === 'initial-cluster-token' && cluster !== undefined));
  return {
    dataDir: values.text('data-dir') || `${values.text('name')}.etcd`,
    cluster,
    bumpRevision,
    skipHashCheck: values.bool('skip-hash-check'),
    dropAuth: values.bool('drop-auth'),
    warnings:
      without.length === 0 ? [] : [`flags without effect here: ${without.map(({ name }) => `--${name}`).join(' ')}`],
  };
}

function restoredCluster(values: FlagValues): RestoredCluster | undefined {
  const storage = values.text('storage');
  const members = restoredMembers(values);
  if (storage !== 'tikv') {
    if (storage !== 'segment') throw new ConfigError(`--storage=${storage}: expected segment or tikv`);
    const set = values.changed().filter(({ name }) => tikvFlags.includes(name));
    if (set.length > 0) {
      throw new ConfigError(`${set.map(({ name }) => `--${name}`).join(' ')}: only with --storage=tikv`);
    }
    return undefined;
  }
  const pdEndpoints = values.list('tikv-pd-endpoints');
  if (pdEndpoints.length === 0) throw new ConfigError('--storage=tikv needs --tikv-pd-endpoints');
  return {
    pdEndpoints,
    tikvTls: tikvTls(values),
    prefix: tikvPrefix(values),
    token: values.text('initial-cluster-token'),
    members,
    discardUnfinished: values.bool('discard-unfinished'),
  };
}

/**
 * The members of --initial-cluster. A node that is alone takes its name and its URLs from its own flags at each start, so they
 * are checked only. A whole cluster is restored at once: without --name its list is that of any of its members.
 */
function restoredMembers(values: FlagValues): readonly InitialMember[] {
  const list = values.list('initial-advertise-peer-urls').join();
  const urls = parseUrls(list);
  const problem = typeof urls === 'string' ? urls : hostProblem(urls);
  if (typeof urls === 'string' || problem !== undefined) {
    throw new ConfigError(`--initial-advertise-peer-urls ${JSON.stringify(list)}: ${problem}`);
  }
  const own = urls.map(({ text }) => text);
  const cluster = values.text('initial-cluster');
  const isOnTikv = values.text('storage') === 'tikv';
  const isAny = isOnTikv && cluster !== '' && !values.isSet('name');
  const name = isAny ? (/^\s*([^=,]+)=/.exec(cluster)?.[1] ?? '') : values.text('name');
  const members = parseInitialCluster(name, cluster, own);
  if (typeof members === 'string') throw new ConfigError(members);
  if (members.length > 1 && !isOnTikv) {
    const all = members.map((member) => member.name).join(', ');
    throw new ConfigError(
      `--initial-cluster names ${members.length} members (${all}): a data directory is restored for a node that is alone; a cluster of more than one keeps its log in TiKV, so it needs --storage=tikv and --tikv-pd-endpoints`,
    );
  }
  const hasOwn = !isAny || values.isSet('initial-advertise-peer-urls');
  const mismatch = hasOwn ? advertisedProblem(name, members, own) : undefined;
  if (mismatch !== undefined) throw new ConfigError(mismatch);
  return members;
}
