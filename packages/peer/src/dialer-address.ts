import type { X509Certificate } from 'node:crypto';
import { lookup, reverse } from 'node:dns/promises';
import { isForAddress } from '@engram/transport';

/** The questions to the resolver. */
export interface Resolver {
  /** The names of an address. Rejects if there are none. */
  reverse(address: string): Promise<readonly string[]>;
  /** The addresses of a name. Rejects if there are none. */
  addresses(name: string): Promise<readonly string[]>;
}

export const systemResolver: Resolver = {
  reverse,
  addresses: async (name) => (await lookup(name, { all: true })).map(({ address }) => address),
};

/** The entries of a certificate's subjectAltName, as node writes them: those with special characters are JSON texts. */
const alternativeName = /(DNS|IP Address):("(?:[^"\\]|\\.)*"|[^,]*)/g;

/**
 * Why a certificate does not belong to the address that its member dials from. Undefined if it does, or if it names neither
 * addresses nor DNS names. A DNS name belongs to an address that it resolves to, or that resolves to it; a wildcard stands for
 * any beginning (etcd client/pkg/transport/listener_tls.go: checkCertSAN).
 */
export async function addressFault(
  certificate: X509Certificate,
  remoteAddress: string,
  resolver: Resolver = systemResolver,
): Promise<string | undefined> {
  const names: string[] = [];
  let hasAddresses = false;
  for (const [, kind, text] of (certificate.subjectAltName ?? '').matchAll(alternativeName)) {
    if (kind === 'DNS') names.push(text!.startsWith('"') ? String(JSON.parse(text!)) : text!);
    else hasAddresses = true;
  }
  const address = remoteAddress.replace(/^::ffff:(?=\d+\.)/i, '');
  if (!hasAddresses && names.length === 0) return undefined;
  if (hasAddresses && isForAddress(certificate, address)) return undefined;
  if (names.length > 0 && (await isOneOf(names, address, resolver))) return undefined;
  return `the certificate is not for ${address}, but for ${certificate.subjectAltName}`;
}

async function isOneOf(names: readonly string[], address: string, resolver: Resolver): Promise<boolean> {
  const suffixes = names.filter((name) => name.startsWith('*.')).map((name) => name.slice(1));
  const plain = names.filter((name) => !name.startsWith('*.'));
  const known: readonly string[] = await resolver.reverse(address).catch(() => []);
  const found = known.map((name) => name.replace(/\.$/, ''));
  if (found.some((name) => plain.includes(name) || suffixes.some((suffix) => name.endsWith(suffix)))) return true;
  for (const name of plain) {
    const addresses: readonly string[] = await resolver.addresses(name).catch(() => []);
    if (addresses.includes(address)) return true;
  }
  return false;
}
