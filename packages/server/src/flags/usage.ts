import type { FlagGroup, FlagSpec } from './flag-spec.ts';
import { flagSections } from './flag-table.ts';
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

  engram --config-file FILE
    Take the configuration from a file; other flags and environment variables are then ignored.
`;

const groupMarks: Readonly<Record<FlagGroup, string>> = {
  works: '',
  ignored: '[without effect] ',
  refused: '[not supported] ',
};

export function helpText(): string {
  const sections = [...flagSections, { title: 'engram restore', flags: [...restoreFlags.values()] }];
  return `${usageText}\n${sections.map(({ title, flags }) => `${title}:\n${flags.map(flagText).join('')}`).join('\n')}`;
}

const flagText = ({ name, value, group, help }: FlagSpec): string =>
  `  --${name} '${value}'\n    ${groupMarks[group]}${help}\n`;
