/** The context of a round of reads is its number: it never leaves this member, and no round outlives this process. */
export function contextOf(round: number): Uint8Array {
  const context = new Uint8Array(8);
  new DataView(context.buffer).setFloat64(0, round);
  return context;
}

export function numberOf(context: Uint8Array): number {
  return new DataView(context.buffer, context.byteOffset, context.byteLength).getFloat64(0);
}
