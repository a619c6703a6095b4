/** Weights of the requests about users. Only in runs with users. */
export const userWeights = {
  'log-in': 6,
  'change-users': 7,
  'auth-status': 2,
} as const;

export type UserKind = keyof typeof userWeights;
export const isUserKind = (kind: string): kind is UserKind => Object.hasOwn(userWeights, kind);

/** Weights of the scenarios about users: see `UserScenario`. Only in runs with users. */
export const userScenarioWeights = {
  'log-in-beside-new-password': 1,
  'share-a-lease': 1,
  'renew-together': 1,
  'write-behind-change': 1,
  'change-behind-waiting': 1,
  'enable-unheard': 1,
} as const;

export type UserScenarioKind = keyof typeof userScenarioWeights;
export const isUserScenario = (kind: string): kind is UserScenarioKind => Object.hasOwn(userScenarioWeights, kind);
