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

/** Formats a number with about three digits and grouped thousands. `-` for a value that was not measured. */
export function figure(value: number): string {
  if (!Number.isFinite(value)) return '-';
  const size = Math.abs(value);
  const digits = size >= 100 || size === 0 ? 0 : size >= 10 ? 1 : 2;
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

export const ratio = (value: number, base: number): string => (base > 0 ? `${(value / base).toFixed(2)}x` : '-');
