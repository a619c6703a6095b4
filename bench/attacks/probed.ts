/** What a modest client measured at a store, in milliseconds. `own` excludes the time that either side waited for a core. */
export interface Probed {
  readonly count: number;
  readonly p99Ms: number;
  readonly maxMs: number;
  readonly ownP99Ms: number;
  readonly ownMaxMs: number;
  /** CPU time of the store's first thread during the longest request. */
  readonly worstCpuMs: number;
  readonly failures: number;
}

export function readProbed(text: string): Probed {
  const said: unknown = JSON.parse(text);
  const fields = new Map<string, unknown>(typeof said === 'object' && said !== null ? Object.entries(said) : []);
  const number = (name: keyof Probed): number => Number(fields.get(name));
  return {
    count: number('count'),
    p99Ms: number('p99Ms'),
    maxMs: number('maxMs'),
    ownP99Ms: number('ownP99Ms'),
    ownMaxMs: number('ownMaxMs'),
    worstCpuMs: number('worstCpuMs'),
    failures: number('failures'),
  };
}
