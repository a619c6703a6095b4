/** The id of a member or a cluster as etcd's labels show it. */
export const hex = (id: bigint): string => BigInt.asUintN(64, id).toString(16);
