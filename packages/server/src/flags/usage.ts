import type { FlagGroup, FlagSection, FlagSpec } from './flag-spec.ts';
import { flagSections } from './flag-table.ts';
import { mirrorFlags } from './mirror-flags.ts';
import { restoreFlags } from './restore-flags.ts';

export const usageText = `Usage:

  engram [flags]
    Start a node. The flags are those of etcd.

  engram --version
    Show the version.

  engram -h | --help
    Show every flag.

  engram health [flags]
    Ask the member of this machine that has these flags whether it is ready: exit code 0, otherwise 1 and why.

  engram inspect-storage [flags]
    Show what the cluster has in TiKV: its log, its images, and what trimming waits for. Changes nothing. The flags are
    those of a member.

  engram restore [flags] SNAPSHOT
    Make a data directory from a snapshot of etcd's or Engram's, or from the file member/snap/db of a data directory of etcd's;
    with --storage=tikv the store of a whole cluster. The flags are those of etcdutl snapshot restore, and more.

  engram migrate [flags]
    Start a node whose store follows the etcd at --from: founded from its snapshot, then each of its revisions becomes one here. It takes
    no writes before the cut-over. Started again it goes on. The flags are those of a member.

  engram cut-over [flags]
    End the following, and let the store of this machine's node with these flags take writes. Refused while it is behind.

  engram mirror [flags]
    Write each revision of the store at --from into the etcd at --to, which was restored from its snapshot, with the same revision. Started again it
    goes on. The first difference ends it.

  engram --config-file FILE
    Take the configuration from a file; other flags and environment variables are then ignored.
`;

const groupMarks: Readonly<Record<FlagGroup, string>> = {
  works: '',
  ignored: '[without effect] ',
  refused: '[not supported] ',
};

/** Every flag of every command, as --help and docs/FLAGS.md show them. */
export const helpSections: readonly FlagSection[] = [
  ...flagSections,
  { title: 'engram restore', flags: [...restoreFlags.values()] },
  { title: 'engram mirror', flags: [...mirrorFlags.values()] },
];

export function helpText(): string {
  return `${usageText}\n${helpSections.map(({ title, flags }) => `${title}:\n${flags.map(flagText).join('')}`).join('\n')}`;
}

const flagText = ({ name, value, group, help }: FlagSpec): string =>
  `  --${name} '${value}'\n    ${groupMarks[group]}${help}\n`;
