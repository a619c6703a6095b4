/** The middle value. For an even count the lower one of the two, so that it is a measured value. */
export function median(values: readonly number[]): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) / 2)]!;
}

/** The value below which the fraction `share` (0 to 1) of the values lie. */
export function quantile(values: readonly number[], share: number): number {
  if (values.length === 0) return Number.NaN;
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.floor((sorted.length - 1) * share)]!;
}

/**
 * Between which values the median of all there could be lies, of which `values` are independent samples, in 19 of 20 cases: by their order
 * alone, whatever their distribution is.
 */
export function medianInterval(values: readonly number[]): { readonly least: number; readonly most: number } {
  const sorted = values.toSorted((left, right) => left - right);
  const within = Math.max(0, Math.floor((sorted.length - 1.96 * Math.sqrt(sorted.length)) / 2) - 1);
  return { least: sorted[within] ?? Number.NaN, most: sorted[sorted.length - 1 - within] ?? Number.NaN };
}

/** Formats a number with about three digits and grouped thousands. `-` for a value that was not measured. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const ratio = (value: number, base: number): string => (base > 0 ? `${(value / base).toFixed(2)}x` : '-');
