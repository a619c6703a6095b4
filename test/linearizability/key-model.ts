import type { SequentialModel } from './checker.ts';

/** The revision of a write whose answer was lost, until another answer has it. */
const UNKNOWN = -1;

/** The state of one key. `mod` 0 means that it does not exist. */
export interface KeyState {
  readonly mod: number;
  readonly value: string;
}

export type KeyInput =
  | { readonly kind: 'get' }
  | { readonly kind: 'put'; readonly value: string }
  | { readonly kind: 'delete' }
  /** Writes if the key's revision is `expected`; otherwise reads. */
  | { readonly kind: 'swap'; readonly expected: number; readonly value: string };

export type KeyOutput =
  | { readonly kind: 'read'; readonly state: KeyState }
  | { readonly kind: 'written'; readonly revision: number }
  /** `revision` is the revision of the deletion. */
  | { readonly kind: 'deleted'; readonly found: boolean; readonly revision: number };

const NOTHING: KeyState = { mod: 0, value: '' };

/** etcd's guarantee for one key. Revisions must grow from write to write. */
export const keyModel: SequentialModel<KeyState, KeyInput, KeyOutput> = {
  initial: NOTHING,
  fingerprint: ({ mod, value }) => `${mod}=${value}`,
  step(state, input, output) {
    switch (input.kind) {
      case 'get':
        return output === undefined ? state : readAs(state, output);
      case 'put':
        return written(state, input.value, output);
      case 'delete':
        if (output === undefined) return NOTHING;
        return output.kind === 'deleted' && output.found === (state.mod !== 0) && output.revision >= state.mod
          ? NOTHING
          : undefined;
      case 'swap':
        return swapped(state, input.expected, input.value, output);
    }
  },
};

function readAs(state: KeyState, output: KeyOutput): KeyState | undefined {
  if (output.kind !== 'read' || output.state.value !== state.value) return undefined;
  const { mod } = output.state;
  // The first answer with the revision of a lost write determines that revision.
  if (state.mod === UNKNOWN) return mod > 0 ? output.state : undefined;
  return mod === state.mod ? state : undefined;
}

function written(state: KeyState, value: string, output: KeyOutput | undefined): KeyState | undefined {
  if (output === undefined) return { mod: UNKNOWN, value };
  return output.kind === 'written' && output.revision > state.mod ? { mod: output.revision, value } : undefined;
}

function swapped(
  state: KeyState,
  expected: number,
  value: string,
  output: KeyOutput | undefined,
): KeyState | undefined {
  const matches = state.mod === expected || (state.mod === UNKNOWN && expected > 0);
  if (output === undefined) return matches ? { mod: UNKNOWN, value } : state;
  if (output.kind === 'written') return matches ? written(state, value, output) : undefined;
  if (state.mod === expected) return undefined;
  return readAs(state, output);
}
