export interface DialTarget {
  /** For gRPC: the scheme is explicit, so that no host name is taken for one, and the port is, because gRPC's default is 443. */
  readonly target: string;
  /** host:port, for logs and errors. */
  readonly address: string;
  /** A name or an address, without the brackets of IPv6. */
  readonly host: string;
  readonly port: number;
  readonly secure: boolean;
}

const PORT_MAX = 65_535;

/**
 * Where a peer URL is dialed. Undefined for a URL that this program cannot dial. The member list is agreed on by all members,
 * also by those of other versions, so it may hold any text.
 */
export function dialTargetOf(url: string): DialTarget | undefined {
  const match = /^(https?):\/\/(\[[^\]]*\]|[^\s:@[\]/?#\\]+):(\d+)$/i.exec(url);
  if (match === null) return undefined;
  const [, scheme, host, port] = match;
  if (Number(port) > PORT_MAX) return undefined;
  const parsed = URL.parse(`http://${host}`);
  if (parsed === null) return undefined;
  const address = `${parsed.hostname}:${Number(port)}`;
  return {
    target: `dns:///${address}`,
    address,
    host: parsed.hostname.replace(/^\[|\]$/g, ''),
    port: Number(port),
    secure: scheme!.toLowerCase() === 'https',
  };
}
