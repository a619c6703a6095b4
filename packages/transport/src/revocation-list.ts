import { DER, derValues, type DerValue, hexOf, sequenceOf } from './der.ts';

/**
 * The serial numbers that a certificate revocation list names (RFC 5280, 5.1), each as `serialText` gives it. The list is
 * in DER, as etcd needs it, or in PEM, where several lists may follow each other. As in etcd (client/pkg/transport
 * checkCRL), neither its signature nor its dates are looked at, and nobody asks who has issued it. Throws if it cannot be
 * read: it would revoke nobody.
 */
export function revokedSerials(file: Uint8Array): ReadonlySet<string> {
  const serials = new Set<string>();
  for (const list of listsIn(file)) {
    const revoked = revokedEntries(list);
    if (revoked === undefined) throw new Error('no certificate revocation list');
    for (const entry of revoked) {
      const serial = sequenceOf(entry)?.[0];
      if (serial?.tag !== DER.integer) throw new Error('a revoked certificate without a serial number');
      serials.add(serialText(absolute(serial.content)));
    }
  }
  return serials;
}

/** A serial number in hex, without its sign and leading zeros, in lower case. */
export const serialText = (hex: string): string => hex.replace(/^-?0*/, '').toLowerCase();

function listsIn(file: Uint8Array): readonly Uint8Array[] {
  const text = Buffer.from(file).toString('latin1');
  if (!text.includes('-----BEGIN')) return [file];
  const blocks = text.matchAll(/-----BEGIN X509 CRL-----([\s\S]*?)-----END X509 CRL-----/g);
  const lists = [...blocks].map(([, base64]) => Buffer.from(base64!, 'base64'));
  if (lists.length === 0) throw new Error('no certificate revocation list');
  return lists;
}

/** TBSCertList: version, signature, issuer, thisUpdate, nextUpdate, revokedCertificates, extensions. */
function revokedEntries(list: Uint8Array): readonly DerValue[] | undefined {
  const [signed] = sequenceOf(derValues(list)?.[0]) ?? [];
  const fields = sequenceOf(signed);
  if (fields === undefined) return undefined;
  const issuerAt = fields[0]?.tag === DER.integer ? 2 : 1;
  const isTime = (value: DerValue | undefined): boolean => value?.tag === DER.utcTime || value?.tag === DER.time;
  if (fields[issuerAt]?.tag !== DER.sequence || !isTime(fields[issuerAt + 1])) return undefined;
  const entries = fields[issuerAt + (isTime(fields[issuerAt + 2]) ? 3 : 2)];
  return entries?.tag === DER.sequence ? derValues(entries.content) : [];
}

/** The absolute value of an integer in two's complement, in hex. */
function absolute(content: Uint8Array): string {
  const hex = hexOf(content);
  if ((content[0] ?? 0) < 0x80) return hex;
  return (2n ** BigInt(8 * content.length) - BigInt(`0x${hex}`)).toString(16);
}
