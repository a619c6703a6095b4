/** The version `major.minor.patch` (semver). */
export interface ServerVersion {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
}

/** Accepts leading zeroes, as etcd's parser does. semver forbids them. */
const SEMVER = /^(\d+)\.(\d+)\.(\d+)(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;

export function parseVersion(text: string): ServerVersion | undefined {
  const match = SEMVER.exec(text);
  if (match === null) return undefined;
  return { major: Number(match[1]), minor: Number(match[2]), patch: Number(match[3]) };
}

/** The versions of cluster and storage have patch 0: `3.6.0`. */
export const minorVersion = ({ major, minor }: ServerVersion): string => `${major}.${minor}.0`;
