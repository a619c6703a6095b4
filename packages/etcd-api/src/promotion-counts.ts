import { type ErrorCode, isEngramError } from '@engram/core';

/** etcd takes the label from errors of its membership package, which say it in other words than clients are told. */
const REASONS: Partial<Record<ErrorCode, string>> = {
  MemberNotFound: 'membership: ID not found',
  MemberNotLearner: 'membership: can only promote a learner member',
};

/** Counts the calls that promote a learner: `promotions` and `refusedPromotions` of `ClusterCounts`. */
export class PromotionCounts {
  #succeeded = 0;
  readonly #refused = new Map<string, number>();

  get succeeded(): number {
    return this.#succeeded;
  }

  /** By etcd's reason. An error that is no EngramError is `other`, so that there are not more reasons than codes. */
  get refused(): ReadonlyMap<string, number> {
    return this.#refused;
  }

  async count<Result>(promoting: Promise<Result>): Promise<Result> {
    try {
      const result = await promoting;
      this.#succeeded += 1;
      return result;
    } catch (error) {
      const reason =
        isEngramError(error) && error.code !== 'Unknown' ? (REASONS[error.code] ?? error.message) : 'other';
      this.#refused.set(reason, (this.#refused.get(reason) ?? 0) + 1);
      throw error;
    }
  }
}
