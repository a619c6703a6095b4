import type { TikvClient } from '@engram/tikv-client';

export const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
export const text = (value: Uint8Array | undefined): string | undefined =>
  value === undefined ? undefined : Buffer.from(value).toString();

/** The rows of a range as "key=value", read in small pages. */
export async function rows(client: TikvClient, start: string, end: string, reverse = false): Promise<string[]> {
  const snapshot = await client.snapshot();
  const found: string[] = [];
  for await (const { key, value } of snapshot.scan(bytes(start), bytes(end), { reverse, pageRows: 7 }))
    found.push(`${text(key)}=${text(value)}`);
  return found;
}

/** Commits one transaction. Throws unless it is committed. */
export async function write(
  client: TikvClient,
  entries: Record<string, string>,
  mode: '1pc' | 'async' | '2pc',
): Promise<bigint> {
  const txn = await client.begin();
  for (const [key, value] of Object.entries(entries)) txn.put(bytes(key), bytes(value));
  const outcome = await txn.commit({ mode });
  if (outcome.kind !== 'committed') throw new Error(outcome.kind);
  return outcome.commitTs;
}
