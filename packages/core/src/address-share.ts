const HEXTETS = 8;
/** A provider gives each customer at least this much: 64 bits. */
const NETWORK_HEXTETS = 4;

/** What counts as one address where addresses share: an IPv4 address, or a /64 of IPv6, since one host may use all of that. */
export function addressShare(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped !== null) return mapped[1]!;
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.replace(/%.*$/, '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = Array.from({ length: Math.max(0, HEXTETS - before.length - after.length) }, () => '0');
  const hextets = [...before, ...(tail === undefined ? [] : zeros), ...after];
  return `${hextets.slice(0, NETWORK_HEXTETS).join(':')}::/64`;
}
