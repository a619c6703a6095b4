// The ports of a node, simulated and seeded. For tests only.
export { Prng } from './src/prng.ts';
export { SimClock } from './src/sim-clock.ts';
