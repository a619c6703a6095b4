import { lookup, Resolver } from 'node:dns/promises';
import type { Logger } from '@engram/core';
import { ConfigError } from '../flags/flag-values.ts';
import type { InitialMember } from './initial-cluster.ts';
import { parseUrls } from '../flags/urls.ts';

/** `--discovery-srv` and `--discovery-srv-name`. */
export interface SrvDiscovery {
  readonly domain: string;
  /** If empty, the services have etcd's names. */
  readonly serviceName: string;
}

export interface SrvRecord {
  /** The name of a host, with or without a trailing dot. */
  readonly name: string;
  readonly port: number;
}

/** DNS lookups. Both reject if a name is unknown or no server answers. */
export interface NameService {
  srv(name: string): Promise<readonly SrvRecord[]>;
  /** The IP addresses of a host. */
  addresses(host: string): Promise<readonly string[]>;
}

const TIMEOUT_MS = 5000;
const TRIES = 2;

/** The system's name service. If `servers` ("address:port") are given, SRV records come from them. */
export function systemNames(servers?: readonly string[]): NameService {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
  if (servers !== undefined) resolver.setServers(servers);
  return {
    srv: (name) => resolver.resolveSrv(name),
    addresses: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
  };
}

/**
 * Finds the first members of a cluster by their SRV records, as in etcd (client/pkg/srv): `_etcd-server-ssl._tcp` for
 * https and `_etcd-server._tcp` for http. The record at this member's own address gets its name. The others get
 * numbers, because a member's id does not depend on its name. Throws ConfigError if no record is found, or none is this
 * member's.
 */
export async function discoverMembers(
  { domain, serviceName }: SrvDiscovery,
  self: { readonly name: string; readonly advertisePeerUrls: readonly string[] },
  names: NameService,
  logger: Logger,
): Promise<readonly InitialMember[]> {
  const own = await ownAddresses(self.advertisePeerUrls, names);
  const found = new Map<string, string[]>();
  const faults: unknown[] = [];
  for (const [scheme, service] of [
    ['https', 'etcd-server-ssl'],
    ['http', 'etcd-server'],
  ] as const) {
    const record = `_${service}${serviceName === '' ? '' : `-${serviceName}`}._tcp.${domain}`;
    try {
      let number = 0;
      // Sorted, because servers rotate the records from answer to answer.
      for (const { host, port } of await records(record, names)) {
        const isSelf = (await reached(host, port, names)).some((address) => own.has(address));
        const member = isSelf ? self.name : String(number++);
        found.set(member, [...(found.get(member) ?? []), `${scheme}://${host}:${port}`].sort());
      }
    } catch (error) {
      logger.info({ record, error: String(error) }, 'found no SRV records');
      faults.push(error);
    }
  }
  if (found.size === 0) {
    throw new ConfigError(`error querying DNS SRV records of ${domain}: ${faults.map(String).join('; ')}`, {
      cause: faults[0],
    });
  }
  const mine = found.get(self.name);
  if (mine === undefined) throw new ConfigError(`cannot find local etcd member "${self.name}" in SRV records`);
  checkOwn(mine, self.advertisePeerUrls);
  const members = [...found].map(([name, peerUrls]) => ({ name, peerUrls }));
  logger.info({ domain, members: members.map(({ name, peerUrls }) => `${name}=${peerUrls.join()}`) }, 'found members');
  return members;
}

async function records(
  record: string,
  names: NameService,
): Promise<readonly { readonly host: string; readonly port: number }[]> {
  const list = (await names.srv(record)).map(({ name, port }) => ({ host: name.replace(/\.$/, ''), port }));
  return list.sort((left, right) =>
    left.host === right.host ? left.port - right.port : left.host < right.host ? -1 : 1,
  );
}

const reached = async (host: string, port: number, names: NameService): Promise<readonly string[]> =>
  (await names.addresses(host)).map((address) => `${address} ${port}`);

async function ownAddresses(urls: readonly string[], names: NameService): Promise<ReadonlySet<string>> {
  const parsed = parseUrls(urls.join(','));
  if (typeof parsed === 'string') throw new ConfigError(`--initial-advertise-peer-urls: ${parsed}`);
  const own = new Set<string>();
  for (const { host, port, text } of parsed) {
    try {
      for (const address of await reached(host, port, names)) own.add(address);
    } catch (cause) {
      throw new ConfigError(`--initial-advertise-peer-urls: the host of ${text} is not known`, { cause });
    }
  }
  return own;
}

/** A member's id derives from its URLs, so all members must use the same ones. */
function checkOwn(found: readonly string[], advertised: readonly string[]): void {
  const [records, flags] = [[...found].sort().join(), [...advertised].sort().join()];
  if (records === flags) return;
  throw new ConfigError(`SRV records have this member at ${records}, but --initial-advertise-peer-urls=${flags}`);
}
