import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { Clock } from '@engram/core';
import type { MetricRegistry, MetricsFormat } from '@engram/telemetry';
import type { HttpResponse } from '@engram/transport';

const compress = promisify(gzip);

/** How long a rendered page is served: no scraper needs newer values, and the text is 150 KB. */
const FRESH_MS = 1000;

interface Page {
  readonly contentType: string;
  readonly text: Buffer;
  gzip: Promise<Buffer> | undefined;
}

/** /metrics in both formats, as the request's `accept` asks. */
export class MetricsPage {
  readonly #pages: Readonly<Record<MetricsFormat, FormattedPage>>;

  constructor(registry: MetricRegistry, clock: Clock) {
    this.#pages = {
      prometheus: new FormattedPage(registry, clock, 'prometheus'),
      openmetrics: new FormattedPage(registry, clock, 'openmetrics'),
    };
  }

  async answer(accept: string | undefined, acceptEncoding: string | undefined): Promise<HttpResponse> {
    const page = await this.#pages[formatFor(accept)].current();
    const headers = { 'content-type': page.contentType, vary: 'accept, accept-encoding' };
    if (!takesGzip(acceptEncoding)) return { status: 200, headers, body: page.text };
    page.gzip ??= compress(page.text, { level: 1 });
    return { status: 200, headers: { ...headers, 'content-encoding': 'gzip' }, body: await page.gzip };
  }
}

/** Rendered at most once a second. All requests within that second get the same bytes. */
class FormattedPage {
  readonly #registry: MetricRegistry;
  readonly #clock: Clock;
  readonly #format: MetricsFormat;
  #page: Promise<Page> | undefined;
  #freshUntilMs = Number.NEGATIVE_INFINITY;

  constructor(registry: MetricRegistry, clock: Clock, format: MetricsFormat) {
    this.#registry = registry;
    this.#clock = clock;
    this.#format = format;
  }

  current(): Promise<Page> {
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
    const { contentType, text } = await this.#registry.render(this.#format);
    return { contentType, text: Buffer.from(text), gzip: undefined };
  }
}

/** OpenMetrics for who names it, and does not like Prometheus' text better. A scraper that takes everything gets the text. */
function formatFor(accept = ''): MetricsFormat {
  const openMetrics = quality(accept, 'application/openmetrics-text');
  return openMetrics > 0 && openMetrics >= quality(accept, 'text/plain') ? 'openmetrics' : 'prometheus';
}

/** The best `q` with which the header names a type; 0 if it does not. Of OpenMetrics only version 1 is spoken. */
function quality(accept: string, wanted: string): number {
  let best = 0;
  for (const range of accept.split(',')) {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    if (type !== wanted) continue;
    const of = (name: string): string | undefined =>
      parameters.find((each) => each.startsWith(`${name}=`))?.slice(name.length + 1);
    if (wanted.endsWith('openmetrics-text') && (of('version') ?? '1.0.0') !== '1.0.0') continue;
    const q = Number(of('q') ?? 1);
    if (q > best) best = q;
  }
  return best;
}

function takesGzip(acceptEncoding = ''): boolean {
  const gzip = /(?:^|,)\s*(?:gzip|\*)\s*(?:;\s*q=([\d.]+)\s*)?(?=,|$)/.exec(acceptEncoding);
  return gzip !== null && Number(gzip[1] ?? 1) > 0;
}
