declare const brand: unique symbol;

/** Names a node for the life of its data: 1 to 2^64 - 1. A node that comes back without its data needs a new one. */
export type NodeId = bigint & { readonly [brand]: 'NodeId' };

export const nodeId = (value: bigint): NodeId => value as NodeId;

/** Sorted, without duplicates. The core goes over nodes in this order, so that equal inputs give equal outputs. */
export function sortedIds(ids: Iterable<NodeId>): readonly NodeId[] {
  return [...new Set(ids)].sort((one, other) => (one < other ? -1 : one > other ? 1 : 0));
}
