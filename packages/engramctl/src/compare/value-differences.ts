import { isDeepStrictEqual } from 'node:util';
import { kubeValue } from '../kube/kube-value.ts';
import { shownText, sizeText } from '../print/shown.ts';

const DIFFERENCES_MAX = 100;
/** Objects within objects that are compared field by field. */
const DEPTH_MAX = 64;
const SHOWN_CHARS = 120;
const JSON_BYTES_MAX = 32 << 20;

/**
 * How two values differ, one line each, at most a hundred: of JSON the fields, of other texts both, of anything else the sizes and
 * the first byte that differs. The bytes may be anything.
 */
export function valueDifferences(before: Uint8Array, after: Uint8Array): readonly string[] {
  if (Buffer.compare(before, after) === 0) return [];
  const [left, right] = [jsonOf(before), jsonOf(after)];
  if (left !== undefined && right !== undefined) {
    const lines: string[] = [];
    for (const line of jsonDifferences('', left.value, right.value, 0)) {
      if (lines.length === DIFFERENCES_MAX) return [...lines, '...'];
      lines.push(line);
    }
    // Texts that differ in spaces or in the order of their fields alone.
    return lines.length > 0 ? lines : [bytesDifference(before, after)];
  }
  const [textBefore, textAfter] = [textOf(before), textOf(after)];
  if (textBefore !== undefined && textAfter !== undefined)
    return [`${shownText(textBefore, SHOWN_CHARS)} -> ${shownText(textAfter, SHOWN_CHARS)}`];
  return [bytesDifference(before, after)];
}

function bytesDifference(before: Uint8Array, after: Uint8Array): string {
  const length = Math.min(before.length, after.length);
  let at = 0;
  while (at < length && before[at] === after[at]) at += 1;
  const [left, right] = [kubeValue(before).form, kubeValue(after).form];
  const form = left === right ? left : `${left} -> ${right}`;
  return `${form}: ${sizeText(before.length)} -> ${sizeText(after.length)}, different from byte ${at} on`;
}

function jsonOf(bytes: Uint8Array): { readonly value: unknown } | undefined {
  const [first] = bytes;
  if ((first !== 0x7b && first !== 0x5b) || bytes.length > JSON_BYTES_MAX) return undefined; // { and [
  try {
    return { value: JSON.parse(Buffer.from(bytes).toString('utf8')) };
  } catch {
    return undefined;
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textOf(bytes: Uint8Array): string | undefined {
  try {
    const text = utf8.decode(bytes);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: what has these is no text
    return /[\u0000-\u0008\u000e-\u001f]/.test(text) ? undefined : JSON.stringify(text);
  } catch {
    return undefined;
  }
}

function* jsonDifferences(path: string, before: unknown, after: unknown, depth: number): Generator<string> {
  const [left, right] = [fieldsOf(before), fieldsOf(after)];
  if (
    left === undefined ||
    right === undefined ||
    depth === DEPTH_MAX ||
    Array.isArray(before) !== Array.isArray(after)
  ) {
    if (!isEqual(before, after)) yield `${placeText(path)}: ${shown(before)} -> ${shown(after)}`;
    return;
  }
  for (const name of [...left.keys(), ...[...right.keys()].filter((each) => !left.has(each))]) {
    const field = Array.isArray(before)
      ? `[${name}]`
      : /^[\w-]+$/.test(name)
        ? `.${name}`
        : `[${JSON.stringify(name)}]`;
    const place = placeText(`${path}${field}`);
    if (!right.has(name)) yield `${place}: ${shown(left.get(name))} -> (none)`;
    else if (!left.has(name)) yield `${place}: (none) -> ${shown(right.get(name))}`;
    else yield* jsonDifferences(`${path}${field}`, left.get(name), right.get(name), depth + 1);
  }
}

const placeText = (path: string): string =>
  path === '' ? '(all)' : shownText(path.replace(/^\./, ''), SHOWN_CHARS * 2);

const fieldsOf = (value: unknown): ReadonlyMap<string, unknown> | undefined =>
  typeof value === 'object' && value !== null ? new Map(Object.entries(value)) : undefined;

function isEqual(left: unknown, right: unknown): boolean {
  try {
    return isDeepStrictEqual(left, right);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return false; // nested deeper than the stack
  }
}

function shown(value: unknown): string {
  if (typeof value === 'object' && value !== null) {
    const size = Object.keys(value).length;
    return Array.isArray(value) ? `[${size} items]` : `{${size} fields}`;
  }
  return shownText(JSON.stringify(value) ?? 'null', SHOWN_CHARS);
}
