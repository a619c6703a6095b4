/** What the load generator prints for one measured stream of requests. Times are in milliseconds. */
export interface Outcome {
  readonly op: string;
  readonly phase: string;
  readonly requests: number;
  readonly failures: number;
  readonly firstError: string;
  readonly seconds: number;
  readonly perSecond: number;
  /** Keys listed or counted, or events received. 0 if a request has no items. */
  readonly items: number;
  readonly itemsPerSecond: number;
  readonly bytesIn: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly clientCpuSeconds: number;
}

/** Parses one line. Undefined if the line is not an outcome. Throws for an outcome without its figures. */
export function parseOutcome(line: string): Outcome | undefined {
  if (!line.startsWith('{')) return undefined;
  const value: unknown = JSON.parse(line);
  if (typeof value !== 'object' || value === null || !('op' in value)) return undefined;
  const fields = new Map<string, unknown>(Object.entries(value));
  const text = (name: string): string => {
    const field = fields.get(name) ?? '';
    if (typeof field !== 'string') throw new Error(`${name} is no text: ${line}`);
    return field;
  };
  const number = (name: string): number => {
    const field = fields.get(name);
    if (typeof field !== 'number') throw new Error(`${name} is no number: ${line}`);
    return field;
  };
  // The generator omits these if they are 0.
  const numberOr0 = (name: string): number => (fields.has(name) ? number(name) : 0);
  return {
    op: text('op'),
    phase: text('phase'),
    requests: number('requests'),
    failures: number('failures'),
    firstError: text('first_error'),
    seconds: number('seconds'),
    perSecond: number('per_second'),
    items: numberOr0('items'),
    itemsPerSecond: numberOr0('items_per_second'),
    bytesIn: numberOr0('bytes_in'),
    p50Ms: number('p50_ms'),
    p99Ms: number('p99_ms'),
    maxMs: number('max_ms'),
    clientCpuSeconds: numberOr0('client_cpu_seconds'),
  };
}
