/** Leases: grants, deadlines, and attached keys. */
export { Lessor, type Lease, type ListedLease, MAX_TTL_SECONDS } from './src/lessor.ts';
