/** Weights of the requests about users. Only in runs with users. */
export const userWeights = {
  'log-in': 6,
  'change-users': 7,
  'auth-status': 2,
} as const;

export type UserKind = keyof typeof userWeights;
export const isUserKind = (kind: string): kind is UserKind => Object.hasOwn(userWeights, kind);
