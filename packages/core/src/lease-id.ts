declare const brand: unique symbol;

/** A signed 64-bit number, any but 0: clients choose it, so all 64 bits count and a bigint it must be. */
export type LeaseId = bigint & { readonly [brand]: 'LeaseId' };

export const leaseId = (value: bigint): LeaseId => value as LeaseId;

/** "No lease attached", as etcd sends it. */
export const NO_LEASE = leaseId(0n);
