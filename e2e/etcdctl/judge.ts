import type { Command } from './help.ts';
import type { Shown, Side } from './side.ts';
import { type Ended, RunningTool, type Tool, toolOutput } from './tool.ts';

export const FORMATS = ['simple', 'json', 'fields', 'table', 'protobuf'] as const;
export type Format = (typeof FORMATS)[number];

/** Why the store may answer otherwise than etcd, and how each answers then. A user would accept the reason. */
export interface Difference {
  readonly why: string;
  readonly etcd: RegExp;
  readonly store: RegExp;
}

export interface CallOptions {
  readonly tool?: Tool;
  readonly input?: string | Uint8Array;
  readonly format?: Format;
  /** The type of the message that the format protobuf shows. */
  readonly message?: string | undefined;
  /** Flags of every command, in front of it. */
  readonly flags?: readonly string[];
  readonly differs?: Difference | undefined;
  /** Learns an id that the answer has as its first group. */
  readonly id?: readonly [name: string, pattern: RegExp];
  /** Changes both answers before they are compared. The caller says why. */
  readonly settle?: (shown: Shown) => Shown;
}

interface Tried {
  succeeded: boolean;
  failed: boolean;
  readonly flags: Set<string>;
  readonly formats: Set<Format>;
}

/** Runs the same command on both stores, compares how it ends and what it writes, and keeps what was tried. */
export class ToolJudge {
  readonly sides: readonly [etcd: Side, store: Side];
  readonly #tool: Tool;
  readonly #commands: ReadonlyMap<string, Command>;
  readonly #tried: Map<string, Tried>;
  /** Differences that did not occur, so that the list does not outlive them. */
  readonly #listed = new Map<Difference, boolean>();
  passed = 0;
  failed = 0;

  /** `before` is another judge of the same tool, whose calls count as tried here, too. */
  constructor(sides: readonly [Side, Side], tool: Tool, commands: readonly Command[], before?: ToolJudge) {
    this.#tried = before === undefined ? new Map() : before.#tried;
    this.sides = sides;
    this.#tool = tool;
    this.#commands = new Map(commands.map((command) => [command.words, command]));
  }

  /** Runs a command to its end. `$name` in its arguments is what each store calls so. Returns etcd's answer. */
  async call(args: readonly string[], options: CallOptions = {}): Promise<Shown> {
    const running = this.start(args, options);
    if (options.input !== undefined) running.write(options.input);
    running.closeInput();
    return running.ended();
  }

  /** Runs it in every format. `$format` is the format's name. */
  async formats(args: readonly string[], message?: string, options: CallOptions = {}): Promise<void> {
    for (const format of FORMATS) {
      const own = args.map((arg) => arg.replace('$format', format));
      await this.call(own, { ...options, format, message: format === 'protobuf' ? message : undefined });
    }
  }

  /** Starts a command that ends when it is told to. */
  start(args: readonly string[], options: CallOptions = {}): RunningPair {
    const { format, flags = [], tool = this.#tool } = options;
    const endpoint =
      tool.name === 'etcdctl' && !flags.some((flag) => flag.startsWith('--endpoints='))
        ? ['--endpoints=$endpoint']
        : [];
    const whole = [...endpoint, ...flags, ...(format === undefined ? [] : [`--write-out=${format}`]), ...args];
    const tools = this.sides.map(
      (side) =>
        new RunningTool(
          tool,
          whole.map((arg) => side.filled(arg)),
        ),
    );
    return new RunningPair(tools, (ended) => this.#judged(args, whole, ended, options));
  }

  /** Runs a command on one store alone: what it needs to be as the other one again. */
  async aside(store: 0 | 1, args: readonly string[]): Promise<string> {
    const side = this.sides[store];
    return await toolOutput(this.#tool, [`--endpoints=${side.endpoint}`, ...args.map((arg) => side.filled(arg))]);
  }

  /** Counts what a case compares by itself. */
  equal(label: string, etcd: unknown, store: unknown): void {
    const [left, right] = [JSON.stringify(etcd), JSON.stringify(store)];
    if (left === right) this.passed += 1;
    else this.#fail(label, left, right);
  }

  /** Whether every command was tried: with success and without, with each of its flags, in each format that it has. */
  completeness(exceptions: Readonly<Record<string, string>>): void {
    for (const { words, flags } of this.#commands.values()) {
      const tried = this.#tried.get(words);
      const missing = [
        ...(tried?.succeeded === true ? [] : ['success']),
        ...(tried?.failed === true ? [] : ['failure']),
        ...flags.filter((flag) => tried?.flags.has(flag) !== true).map((flag) => `--${flag}`),
      ].filter((what) => exceptions[`${words} ${what}`] === undefined);
      if (missing.length === 0) this.passed += 1;
      else this.#fail(`${this.#tool.name} ${words} was not tried`, `it has ${missing.join(' ')}`, '');
    }
    for (const [{ why }, seen] of this.#listed) if (!seen) console.log(`no longer different: ${why}`);
  }

  #judged(args: readonly string[], whole: readonly string[], ended: readonly Ended[], options: CallOptions): Shown {
    const { id, message, differs, settle = (shown) => shown } = options;
    if (id !== undefined) this.#learn(id, ended);
    const [etcd, store] = this.sides.map((side, at) => settle(side.shown(ended[at]!, message)));
    if (etcd === undefined || store === undefined) throw new Error('two stores, two answers');
    this.#note(args, etcd, options);
    const label = `${(options.tool ?? this.#tool).name} ${whole.join(' ')}`;
    if (differs === undefined) this.equal(label, etcd, store);
    else this.#different(label, differs, etcd, store);
    return etcd;
  }

  #different(label: string, differs: Difference, etcd: Shown, store: Shown): void {
    const [left, right] = [etcd, store].map((shown) => `${shown.stdout}${shown.stderr}`);
    const same = left === right && etcd.end === store.end;
    this.#listed.set(differs, this.#listed.get(differs) === true || !same);
    if (same || (differs.etcd.test(left ?? '') && differs.store.test(right ?? ''))) this.passed += 1;
    else this.#fail(`${label} (${differs.why})`, JSON.stringify(etcd), JSON.stringify(store));
  }

  #learn([name, pattern]: readonly [string, RegExp], ended: readonly Ended[]): void {
    for (const [at, side] of this.sides.entries()) {
      // Where a store refused, whoever uses the name finds nothing by it.
      side.learnId(name, pattern.exec(ended[at]?.stdout.toString() ?? '')?.[1] ?? NOTHING);
    }
  }

  #note(args: readonly string[], etcd: Shown, { format = 'simple', tool = this.#tool }: CallOptions): void {
    if (tool !== this.#tool) return;
    const words = args.map((_arg, at) => args.slice(0, at + 1).join(' ')).find((some) => this.#commands.has(some));
    if (words === undefined) throw new Error(`${tool.name} has no command ${args.join(' ')}`);
    const tried: Tried = this.#tried.get(words) ?? {
      succeeded: false,
      failed: false,
      flags: new Set(),
      formats: new Set(),
    };
    this.#tried.set(words, tried);
    // What runs until it is interrupted has done its work.
    if (etcd.end === 0 || etcd.end === 'SIGINT') tried.succeeded = true;
    else tried.failed = true;
    tried.formats.add(format);
    for (const arg of args) if (arg.startsWith('--')) tried.flags.add(arg.slice(2).split('=')[0] ?? '');
  }

  #fail(what: string, etcd: string, store: string): void {
    this.failed += 1;
    console.log(
      `DIFFERENT: ${what.slice(0, SHOWN_MAX)}\n  etcd   ${etcd.slice(0, SHOWN_MAX)}\n  store  ${store.slice(0, SHOWN_MAX)}`,
    );
  }
}

const SHOWN_MAX = 2_000;
const NOTHING = 'dead00beef';

/** One command on both stores, until it ends. */
export class RunningPair {
  readonly #tools: readonly RunningTool[];
  readonly #judged: (ended: readonly Ended[]) => Shown;

  constructor(tools: readonly RunningTool[], judged: (ended: readonly Ended[]) => Shown) {
    this.#tools = tools;
    this.#judged = judged;
  }

  write(text: string | Uint8Array): void {
    for (const tool of this.#tools) tool.write(text);
  }

  closeInput(): void {
    for (const tool of this.#tools) tool.closeInput();
  }

  /** Waits until both have written that, or have ended. */
  async until(pattern: RegExp): Promise<void> {
    await Promise.all(this.#tools.map((tool) => tool.until(pattern)));
  }

  /** Waits for the end of both, after a signal if one is given, and compares. */
  async ended(signal?: NodeJS.Signals): Promise<Shown> {
    if (signal !== undefined) for (const tool of this.#tools) tool.signal(signal);
    return this.#judged(await Promise.all(this.#tools.map((tool) => tool.ended())));
  }

  /** Ends both without a comparison: what was only to be waited for. */
  async dropped(): Promise<void> {
    for (const tool of this.#tools) tool.signal('SIGKILL');
    await Promise.all(this.#tools.map((tool) => tool.ended()));
  }
}
