import { assert } from '@engram/core';
import type { HttpRequest, HttpResponse } from '@engram/transport';

export type Endpoint = (request: HttpRequest) => HttpResponse | Promise<HttpResponse>;

/** Which endpoint answers a path: the one of exactly that path, else the one of the longest prefix. */
export class HttpRoutes {
  readonly #exact = new Map<string, Endpoint>();
  /** The longest first. */
  #prefixes: (readonly [prefix: string, endpoint: Endpoint])[] = [];

  /** A path that ends in `/` stands for all paths that begin with it, as in Go's ServeMux. Each path is added once. */
  add(path: string, endpoint: Endpoint): this {
    assert(path.startsWith('/'), 'a path begins with /');
    const known = this.#exact.has(path) || this.#prefixes.some(([prefix]) => prefix === path);
    assert(!known, `the path ${path} has an endpoint already`);
    if (path.endsWith('/')) {
      this.#prefixes = [...this.#prefixes, [path, endpoint] as const].toSorted(
        ([left], [right]) => right.length - left.length,
      );
    } else {
      this.#exact.set(path, endpoint);
    }
    return this;
  }

  endpointOf(path: string): Endpoint | undefined {
    return this.#exact.get(path) ?? this.#prefixes.find(([prefix]) => path.startsWith(prefix))?.[1];
  }
}
