import { TikvError } from '../errors.ts';

export interface PdUrl {
  /** host:port */
  readonly address: string;
  readonly secure: boolean;
}

/** Takes `host:port`, `http://host:port` and `https://host:port`. */
export function parsePdUrl(text: string): PdUrl {
  const match = /^(?:(https?):\/\/)?([^/]+:\d+)\/?$/.exec(text);
  if (match === null) throw new TikvError('invalid-argument', `"${text}" is no address of a PD member`);
  return { address: match[2]!, secure: match[1] === 'https' };
}
