/**
 * How a flag's text is read. `strings` is a comma-separated list, `urls` a comma-separated list of URLs. `int`, `uint`
 * and `uint32` are integer literals of Go. `choice` is one of `choices`, `gates` a list of Name=true|false.
 */
export type FlagType =
  | 'string'
  | 'bool'
  | 'int'
  | 'uint'
  | 'uint32'
  | 'duration'
  | 'urls'
  | 'strings'
  | 'choice'
  | 'gates';

/**
 * - works: has the effect of etcd's flag.
 * - ignored: concerns etcd's Raft, bbolt or Go runtime, or a function that does not exist yet and is not needed. It is
 *   accepted, and one warning names all such flags that are set.
 * - refused: ignoring it would be unsafe, or not what the operator meant. Any value except the default ends the start
 *   with a clear error.
 */
export type FlagGroup = 'works' | 'ignored' | 'refused';

export interface FlagSpec {
  readonly name: string;
  readonly type: FlagType;
  /** The default, as typed on the command line. */
  readonly value: string;
  readonly group: FlagGroup;
  /** One line for --help. For a refused flag it also says why. */
  readonly help: string;
  /** Of a `choice`: the only texts that are valid. */
  readonly choices?: readonly string[];
}

export interface FlagSection {
  readonly title: string;
  readonly flags: readonly FlagSpec[];
}

export const section = (title: string, ...flags: readonly FlagSpec[]): FlagSection => ({ title, flags });
export const works = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  name,
  type,
  value,
  group: 'works',
  help,
});
export const choice = (name: string, value: string, choices: readonly string[], help: string): FlagSpec => ({
  ...works(name, 'choice', value, help),
  choices,
});
export const ignored = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  ...works(name, type, value, help),
  group: 'ignored',
});
export const refused = (name: string, type: FlagType, value: string, help: string): FlagSpec => ({
  ...works(name, type, value, help),
  group: 'refused',
});
