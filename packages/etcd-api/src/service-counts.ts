/** Clients choose what they name as their version. So only as many versions are counted by themselves, and short ones only. */
const CLIENT_VERSIONS_MAX = 64;
const OTHER_VERSIONS = 'other';
/** Versions such as "3.6" or "unknown". */
const plainVersion = /^[\w.+-]{1,32}$/;

/** The calls of clients that name one API version. */
export interface ClientRequests {
  readonly type: 'unary' | 'stream';
  /** "unknown" if the client names none, and "other" if too many versions are named, or odd ones. */
  readonly version: string;
  count: number;
}

/** What the services count. Hot paths add to plain numbers; metrics read them. */
export class ServiceCounts {
  /** Events that were sent to watchers. */
  events = 0;
  readonly #requests = { unary: new Map<string, ClientRequests>(), stream: new Map<string, ClientRequests>() };

  /** The calls that were admitted. */
  get requests(): readonly ClientRequests[] {
    return [...this.#requests.unary.values(), ...this.#requests.stream.values()];
  }

  /** Where the calls of such a client are counted. */
  of(type: 'unary' | 'stream', version: string): ClientRequests {
    const byVersion = this.#requests[type];
    const known = byVersion.get(version);
    if (known !== undefined) return known;
    const named = version === OTHER_VERSIONS || (byVersion.size < CLIENT_VERSIONS_MAX && plainVersion.test(version));
    if (!named) return this.of(type, OTHER_VERSIONS);
    const requests = { type, version, count: 0 };
    byVersion.set(version, requests);
    return requests;
  }
}
