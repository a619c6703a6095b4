/**
 * etcd 3.7's gates and defaults (server/features/etcd_features.go). CompactHashCheck and InitialCorruptCheck have etcd's
 * effect on members of a cluster; none of the others changes the behavior of a member.
 */
export const featureGates: ReadonlyMap<string, { readonly enabled: boolean; readonly stage: 'ALPHA' | 'BETA' }> =
  new Map([
    ['CompactHashCheck', { enabled: false, stage: 'ALPHA' }],
    ['FastLeaseKeepAlive', { enabled: true, stage: 'BETA' }],
    ['InitialCorruptCheck', { enabled: false, stage: 'ALPHA' }],
    ['LeaseCheckpoint', { enabled: false, stage: 'ALPHA' }],
    ['LeaseCheckpointPersist', { enabled: false, stage: 'ALPHA' }],
    ['PriorityRequest', { enabled: false, stage: 'ALPHA' }],
    ['SetMemberLocalAddr', { enabled: false, stage: 'ALPHA' }],
    ['StopGRPCServiceOnDefrag', { enabled: false, stage: 'ALPHA' }],
    ['TxnModeWriteWithSharedBuffer', { enabled: true, stage: 'BETA' }],
  ]);

/**
 * Reads "A=true,B=false", also AllAlpha and AllBeta (pkg/featuregate). Returns the state of every gate, or what is wrong
 * with the text, in etcd's words.
 */
export function parseFeatureGates(text: string): ReadonlyMap<string, boolean> | string {
  const state = new Map([...featureGates].map(([name, { enabled }]) => [name, enabled]));
  for (const pair of text.split(',').map((item) => item.trim())) {
    if (pair === '') continue;
    const [, name, value] = /^([^=]+)=(.*)$/.exec(pair) ?? [];
    if (name === undefined) return `missing bool value for ${pair}`;
    const on = /^(?:1|t|T|TRUE|true|True)$/.test(value!);
    if (!on && !/^(?:0|f|F|FALSE|false|False)$/.test(value!)) {
      return `invalid value of ${name}=${value}: a bool is needed`;
    }
    const stage = { AllAlpha: 'ALPHA', AllBeta: 'BETA' }[name];
    if (stage !== undefined) {
      for (const [gate, spec] of featureGates) if (spec.stage === stage) state.set(gate, on);
    } else if (featureGates.has(name)) {
      state.set(name, on);
    } else {
      return `unrecognized feature gate: ${name}`;
    }
  }
  return state;
}
