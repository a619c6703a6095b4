/** The results, or the first failure in the order of `tasks`. Settles only when all tasks have ended, so none outlives it. */
export async function settleAll<T>(tasks: readonly Promise<T>[]): Promise<T[]> {
  const results: T[] = [];
  let failure: PromiseRejectedResult | undefined;
  for (const result of await Promise.allSettled(tasks)) {
    if (result.status === 'fulfilled') results.push(result.value);
    else failure ??= result;
  }
  if (failure !== undefined) throw failure.reason;
  return results;
}
