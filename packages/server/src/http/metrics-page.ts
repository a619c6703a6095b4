import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '@engram/core';
import type { MetricRegistry } from '@engram/telemetry';
import type { HttpResponse } from '@engram/transport';

const compress = promisify(gzip);

/** How long a rendered page is served: no scraper needs newer values, and the text is 150 KB. */
const FRESH_MS = 1000;

interface Page {
  readonly contentType: string;
  readonly text: Buffer;
  gzip: Promise<Buffer> | undefined;
}

/** /metrics, rendered at most once a second. All requests within that second get the same bytes. */
export class MetricsPage {
  readonly #registry: MetricRegistry;
  readonly #clock: Clock;
  #page: Promise<Page> | undefined;
  #freshUntilMs = Number.NEGATIVE_INFINITY;

  constructor(registry: MetricRegistry, clock: Clock) {
    this.#registry = registry;
    this.#clock = clock;
  }

  async answer(acceptEncoding: string | undefined): Promise<HttpResponse> {
    const page = await this.#current();
    const headers = { 'content-type': page.contentType };
    if (!takesGzip(acceptEncoding)) return { status: 200, headers, body: page.text };
    page.gzip ??= compress(page.text, { level: 1 });
    return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: await page.gzip };
  }

  #current(): Promise<Page> {
    if (this.#page === undefined || this.#clock.nowMs() >= this.#freshUntilMs) {
      // FRESH_MS counts from the end of the rendering. Until then all requests share this rendering.
      this.#freshUntilMs = Number.POSITIVE_INFINITY;
      this.#page = this.#render().finally(() => {
        this.#freshUntilMs = this.#clock.nowMs() + FRESH_MS;
      });
    }
    return this.#page;
  }

  async #render(): Promise<Page> {
    const { contentType, text } = await this.#registry.render();
    return { contentType, text: Buffer.from(text), gzip: undefined };
  }
}

function takesGzip(acceptEncoding = ''): boolean {
  const gzip = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=([\d.]+)\s*)?(?=,|$)/.exec(acceptEncoding);
  return gzip !== null && Number(gzip[1] ?? 1) > 0;
}
