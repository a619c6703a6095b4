/** One call of a client on one object, as the client sees it. Times are ranks in one order of all events. */
export interface Operation<Input, Output> {
  readonly input: Input;
  /** Undefined if no answer came: the call took effect once after `invoked`, or never. */
  readonly output: Output | undefined;
  readonly invoked: number;
  /** Infinity if no answer came. */
  readonly returned: number;
}

/** The required behaviour of the object for one operation after the other. */
export interface SequentialModel<State, Input, Output> {
  readonly initial: State;
  /** The state after the operation; undefined if the output is impossible. An unknown output is always possible. */
  step(state: State, input: Input, output: Output | undefined): State | undefined;
  /** Fingerprints must be equal only for equal states. */
  fingerprint(state: State): string;
}

interface Entry {
  readonly operation: number;
  readonly isReturn: boolean;
  previous: Entry | undefined;
  next: Entry | undefined;
  /** For an invocation: its return. */
  match: Entry | undefined;
}

/**
 * Whether some order of the operations fits the model. In the order, an operation must follow all operations that had
 * returned when it was invoked. This is the search of Wing and Gong with Lowe's cache ("Testing for linearizability",
 * 2017). An operation without an answer may come last, where no other operation sees it: that means "never".
 */
export function isLinearizable<State, Input, Output>(
  model: SequentialModel<State, Input, Output>,
  operations: readonly Operation<Input, Output>[],
): boolean {
  const head = linkedEvents(operations);
  const taken = new Uint8Array(operations.length);
  const tried = new Set<string>();
  const path: { readonly entry: Entry; readonly state: State }[] = [];
  let state = model.initial;
  let entry = head.next;
  while (head.next !== undefined) {
    if (entry !== undefined && !entry.isReturn) {
      const { input, output } = operations[entry.operation]!;
      const next = model.step(state, input, output);
      if (next !== undefined && remember(entry, next)) {
        path.push({ entry, state });
        state = next;
        lift(entry);
        entry = head.next;
      } else {
        entry = entry.next;
      }
      continue;
    }
    // No choice explains this return (or the end), so the last choice was wrong.
    const last = path.pop();
    if (last === undefined) return false;
    state = last.state;
    taken[last.entry.operation] = 0;
    unlift(last.entry);
    entry = last.entry.next;
  }
  return true;

  function remember(chosen: Entry, next: State): boolean {
    taken[chosen.operation] = 1;
    const trial = `${Buffer.from(taken).toString('latin1')}|${model.fingerprint(next)}`;
    if (!tried.has(trial)) {
      tried.add(trial);
      return true;
    }
    taken[chosen.operation] = 0;
    return false;
  }
}

function linkedEvents<Input, Output>(operations: readonly Operation<Input, Output>[]): Entry {
  const events: { readonly at: number; readonly entry: Entry }[] = [];
  for (const [operation, { invoked, returned }] of operations.entries()) {
    const end: Entry = { operation, isReturn: true, previous: undefined, next: undefined, match: undefined };
    const begin: Entry = { operation, isReturn: false, previous: undefined, next: undefined, match: end };
    events.push({ at: invoked, entry: begin }, { at: returned, entry: end });
  }
  events.sort((left, right) => left.at - right.at || Number(left.entry.isReturn) - Number(right.entry.isReturn));
  const head: Entry = { operation: -1, isReturn: false, previous: undefined, next: undefined, match: undefined };
  let last = head;
  for (const { entry } of events) {
    last.next = entry;
    entry.previous = last;
    last = entry;
  }
  return head;
}

function lift(entry: Entry): void {
  unlink(entry);
  unlink(entry.match!);
}

/** Must be called in the reverse order of `lift`, so that each entry finds its old neighbours unchanged. */
function unlift(entry: Entry): void {
  relink(entry.match!);
  relink(entry);
}

function unlink(entry: Entry): void {
  entry.previous!.next = entry.next;
  if (entry.next !== undefined) entry.next.previous = entry.previous;
}

function relink(entry: Entry): void {
  entry.previous!.next = entry;
  if (entry.next !== undefined) entry.next.previous = entry;
}
