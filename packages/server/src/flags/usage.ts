import { type FlagGroup, flagSections } from './flag-table.ts';

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

  engram --config-file FILE
    Take the configuration from a file; other flags and environment variables are then ignored.
`;

const groupMarks: Readonly<Record<FlagGroup, string>> = {
  works: '',
  ignored: '[without effect] ',
  refused: '[not supported] ',
};

export function helpText(): string {
  const sections = flagSections.map(({ title, flags }) => {
    const lines = flags.map(
      ({ name, value, group, help }) => `  --${name} '${value}'\n    ${groupMarks[group]}${help}\n`,
    );
    return `${title}:\n${lines.join('')}`;
  });
  return `${usageText}\n${sections.join('\n')}`;
}
