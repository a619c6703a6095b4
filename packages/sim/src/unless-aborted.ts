/** The answer, unless the signal aborts first: then a rejection with its reason. */
export function unlessAborted<Answer>(answer: Promise<Answer>, signal: AbortSignal): Promise<Answer> {
  if (signal.aborted) return Promise.reject(signal.reason);
  return new Promise((resolve, reject) => {
    const abort = (): void => reject(signal.reason);
    signal.addEventListener('abort', abort, { once: true });
    answer.finally(() => signal.removeEventListener('abort', abort)).then(resolve, reject);
  });
}
