import { nextTurn } from '@engram/core';
import type { HttpRequest, HttpResponse, ServeOptions } from '../serve-options.ts';

/**
 * The handler's answer, in a slice of long work. The handlers of hundreds of requests may wait for the same event, such as
 * the text of /metrics. All of them are resumed at once, and sending an answer takes longer than asking for it.
 */
export async function answerInTurn({ http, clock }: ServeOptions, request: HttpRequest): Promise<HttpResponse> {
  try {
    return await http(request);
  } finally {
    await nextTurn(clock);
  }
}
