const SHOWN_MAX = 512;

/** Foreign text for a terminal: one line, nothing that moves a cursor, at most 512 characters. */
export function shownText(text: string, charsMax = SHOWN_MAX): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not reach a terminal
  const printable = text.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\\]/g, escaped);
  return printable.length <= charsMax ? printable : `${printable.slice(0, charsMax)}...`;
}

const escaped = (char: string): string =>
  char === '\\' ? '\\\\' : `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`;

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Bytes of a key: as text if they are one, otherwise (or with --hex) in hex as etcdctl prints them. */
export function shownBytes(bytes: Uint8Array, hex: boolean): string {
  if (!hex) {
    try {
      return shownText(utf8.decode(bytes));
    } catch {
      // no text
    }
  }
  const shown = [...bytes.subarray(0, SHOWN_MAX)].map((byte) => `\\x${byte.toString(16).padStart(2, '0')}`).join('');
  return bytes.length <= SHOWN_MAX ? shown : `${shown}...`;
}

/** As `etcdctl` prints sizes (dustin/go-humanize): powers of 1000, two digits. */
export function sizeText(bytes: number): string {
  if (bytes < 10) return `${bytes} B`;
  const units = ['B', 'kB', 'MB', 'GB', 'TB', 'PB', 'EB'] as const;
  const power = Math.min(units.length - 1, Math.floor(Math.log(bytes) / Math.log(1000)));
  const value = Math.floor((bytes / 1000 ** power) * 10 + 0.5) / 10;
  return `${value < 10 ? value.toFixed(1) : halfToEven(value)} ${units[power]}`;
}

/** As Go prints a number without digits behind the point. */
const halfToEven = (value: number): number => (value % 1 === 0.5 ? 2 * Math.round(value / 2) : Math.round(value));

export const millisecondsText = (ms: number): string => `${ms < 10 ? ms.toFixed(2) : ms.toFixed(0)} ms`;

/** "1 key", "2 keys". */
export const counted = (count: number, one: string, many = `${one}s`): string => `${count} ${count === 1 ? one : many}`;
