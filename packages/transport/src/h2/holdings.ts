import type { ClientBudgets, Share } from '@engram/core';

/** What one connection holds of the process's budgets. Updated at the end of each slice of work, not for each frame. */
export class Holdings {
  readonly requests: Share;
  readonly answers: Share;
  readonly streams: Share;

  constructor(budgets: ClientBudgets) {
    this.requests = budgets.requestBytes.share();
    this.answers = budgets.answerBytes.share();
    this.streams = budgets.streams.share();
  }

  end(): void {
    this.requests.end();
    this.answers.end();
    this.streams.end();
  }
}
