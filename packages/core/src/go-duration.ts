/** The units of Go's time.ParseDuration, as in "1h30m", "10ms", "1.5s", "-2us". */
const unitMs: Readonly<Record<string, number>> = {
  ns: 1e-6,
  us: 1e-3,
  µs: 1e-3, // U+00B5, the micro sign
  μs: 1e-3, // U+03BC, the Greek letter
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
};
const whole = /^[+-]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+$/;
const piece = /(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)/g;

/** Returns milliseconds. Undefined if the text is not a duration. */
export function parseGoDuration(text: string): number | undefined {
  if (/^[+-]?0$/.test(text)) return 0;
  if (!whole.test(text)) return undefined;
  let ms = 0;
  for (const [, amount, unit] of text.matchAll(piece)) ms += Number(amount) * unitMs[unit!]!;
  return text.startsWith('-') ? -ms : ms;
}

/** Formats a duration as Go does: "1h30m0s", "300ms", "1.5s", "0s". */
export function formatGoDuration(ms: number): string {
  if (ms === 0) return '0s';
  const sign = ms < 0 ? '-' : '';
  const size = Math.abs(ms);
  if (size < 1e-3) return `${sign}${Math.round(size * 1e6)}ns`;
  if (size < 1) return `${sign}${trim(size * 1e3)}µs`;
  if (size < 1000) return `${sign}${trim(size)}ms`;
  const hours = Math.floor(size / unitMs['h']!);
  const minutes = Math.floor((size % unitMs['h']!) / unitMs['m']!);
  const seconds = trim((size % unitMs['m']!) / 1000);
  if (hours > 0) return `${sign}${hours}h${minutes}m${seconds}s`;
  if (minutes > 0) return `${sign}${minutes}m${seconds}s`;
  return `${sign}${seconds}s`;
}

const trim = (value: number): string => String(Math.round(value * 1e9) / 1e9);
