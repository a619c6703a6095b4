import { utf8 } from '@engram/core';
import type { MethodTable } from '@engram/wire';

/** A call whose handler waits for what the test does. */
export interface WaitingHandler {
  readonly request: string;
  readonly signal: AbortSignal;
  /** The wait is over, the work goes on. */
  work(): void;
  /** It waits again. */
  wait(): void;
  answer(): void;
}

/** `/test.Wait/Wait` answers its request when the test says so, `/test.Wait/Echo` at once but not in the same turn. */
export function waitingMethods(): { readonly waiting: WaitingHandler[]; readonly methods: MethodTable } {
  const waiting: WaitingHandler[] = [];
  const methods: MethodTable = new Map([
    [
      '/test.Wait/Wait',
      {
        kind: 'unary',
        handle: async (request, call) => {
          const copy = new Uint8Array(request);
          await undefined;
          const { promise, resolve } = Promise.withResolvers<void>();
          const { signal } = call;
          signal.addEventListener('abort', () => resolve(), { once: true });
          call.waits?.(true);
          waiting.push({
            request: Buffer.from(copy).toString(),
            signal,
            work: () => call.waits?.(false),
            wait: () => call.waits?.(true),
            answer: resolve,
          });
          await promise;
          call.waits?.(false);
          return copy;
        },
      },
    ],
    [
      '/test.Wait/Echo',
      {
        kind: 'unary',
        handle: async (request) => {
          await undefined;
          return request.length === 0 ? utf8('nothing') : request;
        },
      },
    ],
  ]);
  return { waiting, methods };
}
