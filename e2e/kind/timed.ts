/** Says how long the work took. */
export async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startMs = performance.now();
  const result = await work();
  console.log(`   ${what}: ${((performance.now() - startMs) / 1000).toFixed(1)} s`);
  return result;
}
