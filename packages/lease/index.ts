/** Grants, deadlines, and the keys of a lease. */
export { Lessor, type Lease, MAX_TTL_SECONDS } from './src/lessor.ts';
