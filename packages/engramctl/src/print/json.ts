/** One line. Integers of 64 bits are decimal texts, as protobuf's JSON has them. */
export const jsonLine = (value: unknown): string =>
  `${JSON.stringify(value, (_name, part: unknown) => (typeof part === 'bigint' ? String(part) : part))}\n`;
