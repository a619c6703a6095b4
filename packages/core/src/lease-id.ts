declare const brand: unique symbol;

/** Any signed 64-bit number except 0. Clients choose it, so all 64 bits are significant. */
export type LeaseId = bigint & { readonly [brand]: 'LeaseId' };

export const leaseId = (value: bigint): LeaseId => value as LeaseId;

/** "No lease attached", as etcd sends it. */
export const NO_LEASE = leaseId(0n);
