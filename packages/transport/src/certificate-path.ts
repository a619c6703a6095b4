import type { X509Certificate } from 'node:crypto';
import { DER, derValues, type DerValue, hexOf, sequenceOf } from './der.ts';

/** Object identifiers, in hex. */
const KEY_USAGE = '551d0f';
const ALTERNATIVE_NAMES = '551d11';
const BASIC_CONSTRAINTS = '551d13';
const EXTENDED_USAGE = '551d25';
const understood = new Set([KEY_USAGE, ALTERNATIVE_NAMES, BASIC_CONSTRAINTS, EXTENDED_USAGE]);
/** Extended key usages that allow a client: any, and clientAuth. */
const clientUsages = new Set(['551d2500', '2b06010505070302']);

/**
 * Whether a certificate is one of the trusted ones, or signed by one, and may be a client's by Go's rules (crypto/x509
 * Verify), which OpenSSL does not share: an extended key usage of "any" allows clients, and the key usage of a client is
 * not looked at. To be asked only about certificates in which OpenSSL has found no fault but their purpose. What this
 * function does not understand it refuses: constraints on names or policies, and critical extensions.
 */
export function mayBeClient(client: X509Certificate, trusted: readonly X509Certificate[], nowMs: number): boolean {
  if (!isUsable(client, nowMs)) return false;
  return (
    trusted.some(({ fingerprint256 }) => fingerprint256 === client.fingerprint256) ||
    trusted.some((issuer) => issuer.ca && isUsable(issuer, nowMs) && hasSigned(issuer, client))
  );
}

/** By name and signature. */
export function hasSigned(issuer: X509Certificate, certificate: X509Certificate): boolean {
  return certificate.checkIssued(issuer) && certificate.verify(issuer.publicKey);
}

function isUsable(certificate: X509Certificate, nowMs: number): boolean {
  if (nowMs < Date.parse(certificate.validFrom) || nowMs > Date.parse(certificate.validTo)) return false;
  const extensions = extensionsOf(certificate);
  if (extensions === undefined) return false;
  for (const [id, { critical }] of extensions) if (critical && !understood.has(id)) return false;
  const usages = extensions.get(EXTENDED_USAGE);
  if (usages === undefined) return true;
  const ids = sequenceOf(derValues(usages.value)?.[0]);
  return ids?.some(({ tag, content }) => tag === DER.oid && clientUsages.has(hexOf(content))) === true;
}

interface Extension {
  readonly critical: boolean;
  readonly value: Uint8Array;
}

/** By object identifier in hex. Undefined if they cannot be read. */
function extensionsOf({ raw }: X509Certificate): ReadonlyMap<string, Extension> | undefined {
  const fields = sequenceOf(sequenceOf(derValues(raw)?.[0])?.[0]);
  if (fields === undefined) return undefined;
  const found = new Map<string, Extension>();
  const wrapped = fields.find(({ tag }) => tag === 0xa3);
  if (wrapped === undefined) return found;
  const all = sequenceOf(derValues(wrapped.content)?.[0]);
  for (const extension of all ?? []) {
    const parts: readonly DerValue[] = sequenceOf(extension) ?? [];
    const id = parts.find(({ tag }) => tag === DER.oid);
    const value = parts.find(({ tag }) => tag === DER.octets);
    if (id === undefined || value === undefined) return undefined;
    const critical = parts.some(({ tag, content }) => tag === DER.boolean && content[0] !== 0);
    found.set(hexOf(id.content), { critical, value: value.content });
  }
  return all === undefined ? undefined : found;
}
