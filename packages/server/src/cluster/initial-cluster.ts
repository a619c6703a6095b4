import { type Clock, sleep } from '@engram/core';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { parseUrls } from '../flags/urls.ts';

/** One name in --initial-cluster, with its peer URLs, sorted. */
export interface InitialMember {
  readonly name: string;
  readonly peerUrls: readonly string[];
}

/** Resolves host names until this bound, as etcd does (server/config/config.go advertiseMatchesCluster). */
const RESOLVE_MAX_MS = 30_000;
const RESOLVE_AGAIN_MS = 1000;

/**
 * Reads --initial-cluster: "a=http://h:1,a=http://h:2,b=http://i:1", where a member may have several URLs. Empty means
 * this member alone, at the URLs that it advertises. Returns an error text if the list is not valid.
 */
export function parseInitialCluster(
  name: string,
  text: string,
  own: readonly string[],
): readonly InitialMember[] | string {
  if (text === '') return [{ name, peerUrls: own }];
  const members = new Map<string, string[]>();
  for (const pair of text.split(',')) {
    const [, member, url] = /^\s*([^=]+)=(.+)$/.exec(pair) ?? [];
    const parsed = url === undefined ? 'expected name=URL' : parseUrls(url);
    if (typeof parsed === 'string') return `error setting up initial cluster: ${JSON.stringify(pair)}: ${parsed}`;
    members.set(member!, [...(members.get(member!) ?? []), ...parsed.map((each) => each.text)].sort());
  }
  if (!members.has(name))
    return `couldn't find local name ${JSON.stringify(name)} in the initial cluster configuration`;
  const seen = new Set<string>();
  for (const url of [...members.values()].flat()) {
    if (seen.has(url)) return `error setting up initial cluster: the URL ${url} is there twice`;
    seen.add(url);
  }
  return [...members].map(([member, peerUrls]) => ({ name: member, peerUrls }));
}

/** Why a list that has this member's name does not fit the URLs that it advertises, in etcd's words. */
export function advertisedProblem(
  name: string,
  members: readonly InitialMember[],
  own: readonly string[],
): string | undefined {
  const listed = members.find((member) => member.name === name)?.peerUrls ?? [];
  const list = (urls: readonly string[]): string => urls.map((url) => `${name}=${url}`).join();
  const unadvertised = listed.filter((url) => !own.includes(url));
  if (unadvertised.length > 0)
    return `--initial-cluster has ${list(unadvertised)} but missing from --initial-advertise-peer-urls=${[...own].sort().join()}`;
  const unlisted = own.filter((url) => !listed.includes(url));
  if (unlisted.length > 0)
    return `--initial-advertise-peer-urls has ${list(unlisted)} but missing from --initial-cluster=${list(listed)}`;
  return undefined;
}

/** What the first start of a node that is alone needs of --initial-cluster. As in etcd, later starts do not look at it. */
export interface FirstStart {
  readonly name: string;
  readonly members: readonly InitialMember[] | string;
  readonly advertised: readonly string[];
}

export function firstStartOf(values: FlagValues, name: string, advertised: readonly string[]): FirstStart {
  return { name, members: parseInitialCluster(name, values.text('initial-cluster'), advertised), advertised };
}

/**
 * Rejects with ConfigError if --initial-cluster names others, or this member at other URLs than it advertises. URLs whose
 * hosts have the same addresses are equal. A host that has none is asked for until the bound.
 */
export async function checkFirstStart(
  { name, members, advertised }: FirstStart,
  addressesOf: (host: string) => Promise<readonly string[]>,
  clock: Pick<Clock, 'after'>,
): Promise<void> {
  if (typeof members === 'string') throw new ConfigError(members);
  if (members.length > 1) {
    const all = members.map((member) => member.name).join(', ');
    throw new ConfigError(
      `--initial-cluster names ${members.length} members (${all}): a cluster of more than one keeps its log in TiKV, so it needs --storage=tikv and --tikv-pd-endpoints`,
    );
  }
  const problem = advertisedProblem(name, members, advertised);
  const [{ peerUrls } = { peerUrls: [] }] = members;
  if (problem === undefined) return;
  if (peerUrls.length !== advertised.length) throw new ConfigError(problem);
  let cause: unknown;
  for (let waitedMs = 0; waitedMs < RESOLVE_MAX_MS; waitedMs += RESOLVE_AGAIN_MS) {
    try {
      const [listed, own] = await Promise.all([resolved(peerUrls, addressesOf), resolved(advertised, addressesOf)]);
      if (listed.join() === own.join()) return;
      throw new ConfigError(problem);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      cause = error;
    }
    await sleep(clock, RESOLVE_AGAIN_MS);
  }
  throw new ConfigError(problem, { cause });
}

/** The URLs with addresses for their hosts, except for "localhost", sorted. */
async function resolved(
  urls: readonly string[],
  addressesOf: (host: string) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const parsed = parseUrls(urls.join());
  if (typeof parsed === 'string') throw new ConfigError(parsed);
  const all = parsed.map(async ({ text, scheme, path, host, port }) => {
    if (path !== undefined || host === 'localhost') return text;
    const [address] = await addressesOf(host);
    return `${scheme}://${address ?? host}:${port}`;
  });
  return (await Promise.all(all)).sort();
}
