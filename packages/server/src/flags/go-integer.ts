const digitsOfBase: ReadonlyMap<string, RegExp> = new Map([
  ['x', /^[\da-f]+$/i],
  ['o', /^[0-7]+$/],
  ['b', /^[01]+$/],
  ['d', /^\d+$/],
]);

/**
 * An integer literal of Go, as its flag package reads it (strconv.ParseInt with base 0): 10, 1_000, 0x1f, 0o17, 017, 0b11,
 * with a sign. Undefined if the text is none.
 */
export function parseGoInteger(text: string): bigint | undefined {
  const [, sign, prefix, rest] = /^([+-]?)(0[xXoObB]|0(?=[\d_]))?(\w+)$/.exec(text) ?? [];
  // An underscore stands between two digits, or behind the prefix.
  if (rest === undefined || rest.endsWith('_') || rest.includes('__')) return undefined;
  if (rest.startsWith('_') && prefix === undefined) return undefined;
  const base = prefix === undefined ? 'd' : prefix === '0' ? 'o' : prefix[1]!.toLowerCase();
  const digits = rest.replaceAll('_', '');
  if (digitsOfBase.get(base)?.test(digits) !== true) return undefined;
  const size = BigInt(base === 'd' ? digits : `0${base}${digits}`);
  return sign === '-' ? -size : size;
}
