/** Waits with a time limit. The error contains `what`. */
export async function bounded<Value>(what: string, maxMs: number, work: Promise<Value>): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const cut = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not within ${maxMs} ms`)), maxMs);
  });
  try {
    return await Promise.race([work, cut]);
  } finally {
    clearTimeout(timer);
  }
}
