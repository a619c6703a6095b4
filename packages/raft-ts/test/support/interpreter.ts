import { isDeepStrictEqual } from 'node:util';
import {
  type ConfChange,
  confState,
  defaultLimits,
  logIndex,
  type Message,
  type NodeId,
  RaftError,
  type RaftLimits,
  type Ready,
  term,
} from '@engram/raft-ts';
import { describeConf, describeEntry, describeMessage, describeReady, describeStatus } from './describe.ts';
import { bytes, Group, id, TestNode } from './group.ts';

type Command = (words: readonly string[], options: ReadonlyMap<string, string>) => readonly string[];

/** The output of a command without output. */
const OK: readonly string[] = [];

/**
 * Runs the commands of a transcript on a group of nodes, and returns their output. `COMMANDS` in testdata/README.md lists
 * the commands. Words of the form name=value are options.
 */
export class Interpreter {
  #group = new Group();
  #limits: Partial<RaftLimits> = {};

  readonly #commands: Readonly<Record<string, Command>> = {
    group: (words, options) => this.#newGroup(words, options),
    member: ([number], options) => this.#member(number, options),
    join: ([number]) => {
      this.#group.add(TestNode.joiner(idOf(number), this.#limits));
      return OK;
    },
    timeout: ([number, ticks]) => {
      // The timeout is drawn at each change of role. This sets the result of the next draw.
      this.#node(number).random.value = Number(ticks) - (this.#limits.electionTicks ?? defaultLimits.electionTicks);
      return OK;
    },
    tick: ([number, times]) => {
      this.#node(number).tick(Number(times ?? 1));
      return OK;
    },
    campaign: ([number]) => {
      this.#node(number).raw.campaign();
      return OK;
    },
    'forget-leader': ([number]) => {
      this.#node(number).raw.forgetLeader();
      return OK;
    },
    propose: ([number, ...texts]) => [describeOutcome(this.#node(number).raw.propose(...texts.map(bytes)))],
    change: ([number, kind, target]) => {
      const change = { kind: kindOf(kind), node: idOf(target), context: bytes('') };
      return [describeOutcome(this.#node(number).raw.proposeConfChange(change))];
    },
    read: ([number, context]) => [describeOutcome(this.#node(number).raw.readIndex(bytes(context ?? '')))],
    transfer: ([number, target]) => [describeOutcome(this.#node(number).raw.transferLeader(idOf(target)))],
    unreachable: ([number, target]) => {
      this.#node(number).raw.reportUnreachable(idOf(target));
      return OK;
    },
    'snapshot-status': ([number, target, outcome]) => {
      this.#node(number).raw.reportSnapshot(idOf(target), outcome === 'delivered');
      return OK;
    },
    ready: ([number]) => this.#process(this.#node(number), (node) => node.process()),
    hold: ([number]) => this.#process(this.#node(number), (node) => node.hold()),
    finish: ([number]) => {
      const messages = this.#node(number).finish();
      this.#group.send(messages);
      return messages.map((message) => `then ${describeMessage(message)}`);
    },
    crash: ([number]) => {
      this.#node(number).crash();
      return OK;
    },
    compact: ([number], options) => {
      this.#node(number).compact(Number(options.get('keep') ?? 0));
      return OK;
    },
    deliver: (_, options) => this.#take(options, (message) => this.#group.nodes.get(message.to)?.raw.step(message)),
    drop: (_, options) => this.#take(options, () => undefined),
    double: (_, options) =>
      this.#take(options, (message) => {
        this.#group.queue.push(message, message);
        return undefined;
      }),
    isolate: (numbers) => {
      this.#group.isolate(...numbers.map(Number));
      return OK;
    },
    heal: () => {
      this.#group.heal();
      return OK;
    },
    settle: (numbers, options) => this.#settle(numbers, options.has('quiet')),
    network: () => this.#group.queue.map(describeMessage),
    status: (numbers) => this.#nodes(numbers).flatMap((node) => describeStatus(node.status)),
    log: (numbers) => this.#nodes(numbers).map((node) => describeLog(node)),
    state: (numbers) => this.#nodes(numbers).map((node) => `${node.id}: ${node.state.join(' ')}`),
  };

  /** Runs the command of the line and returns its output. Throws for an unknown command. */
  run(line: string): readonly string[] {
    const [name, ...rest] = line.split(/\s+/);
    const command = this.#commands[name ?? ''];
    if (command === undefined) throw new Error(`no command ${name}`);
    const words = rest.filter((word) => !word.includes('='));
    const options = new Map(
      rest.filter((word) => word.includes('=')).map((word) => word.split('=') as [string, string]),
    );
    try {
      return command(words, options);
    } catch (error) {
      if (error instanceof RaftError) return [`RaftError ${error.code}: ${error.message}`];
      throw error;
    }
  }

  /** `group 1 2 3 learners 4 preVote=false`. Other options are as in `defaultLimits`, with short timeouts. */
  #newGroup(words: readonly string[], options: ReadonlyMap<string, string>): readonly string[] {
    const at = words.indexOf('learners');
    const voters = (at === -1 ? words : words.slice(0, at)).map(idOf);
    const learners = at === -1 ? [] : words.slice(at + 1).map(idOf);
    const limits: Record<string, number | boolean> = { electionTicks: 3, heartbeatTicks: 1 };
    for (const [name, value] of options) {
      if (!(name in defaultLimits)) throw new Error(`no option ${name}`);
      limits[name] = value === 'true' || value === 'false' ? value === 'true' : Number(value);
    }
    this.#limits = limits;
    this.#group = new Group(limits);
    const conf = confState(voters, learners);
    for (const member of [...voters, ...learners]) this.#group.add(TestNode.member(member, conf, limits));
    return OK;
  }

  /** `member 1 terms=1,1,2 term=3 commit=2`: starts the node again with this log behind the group's beginning. */
  #member(number: string | undefined, options: ReadonlyMap<string, string>): readonly string[] {
    const node = this.#node(number);
    const terms = (options.get('terms') ?? '')
      .split(',')
      .filter((text) => text !== '')
      .map(Number);
    const hardState = {
      term: term(Number(options.get('term') ?? terms.at(-1) ?? 1)),
      vote: undefined,
      commit: logIndex(Number(options.get('commit') ?? 1)),
    };
    this.#group.add(TestNode.member(node.id, node.raw.conf, this.#limits, { terms, hardState }));
    return OK;
  }

  #process(node: TestNode, how: (node: TestNode) => { readonly ready: Ready; readonly messages: readonly Message[] }) {
    const before = node.raw.conf;
    const { ready, messages } = how(node);
    this.#group.send(messages);
    const lines = [...describeReady(ready)];
    if (!isDeepStrictEqual(before, node.raw.conf)) lines.push(`now ${describeConf(node.raw.conf)}`);
    return lines.length === 0 ? ['nothing'] : lines;
  }

  /** Takes messages that match the options `from`, `to`, `type`, at most `count`, in the order of their sending. */
  #take(options: ReadonlyMap<string, string>, use: (message: Message) => string | undefined): readonly string[] {
    const matches = ({ from, to, type }: Message): boolean =>
      (options.get('from') ?? `${from}`) === `${from}` &&
      (options.get('to') ?? `${to}`) === `${to}` &&
      (options.get('type') ?? type) === type;
    const taken = this.#group.queue.filter(matches).slice(0, Number(options.get('count') ?? Number.POSITIVE_INFINITY));
    this.#group.queue = this.#group.queue.filter((message) => !taken.includes(message));
    if (taken.length === 0) return ['nothing'];
    return taken.flatMap((message) => {
      const fault = use(message);
      return [describeMessage(message), ...(fault === undefined ? [] : [`refused: ${fault}`])];
    });
  }

  /** Does the work of the named nodes (all, if none is named) and delivers their messages, until there are none. */
  #settle(numbers: readonly string[], quiet: boolean): readonly string[] {
    const nodes = this.#nodes(numbers);
    const lines: string[] = [];
    for (let turn = 0; turn < 1000; turn += 1) {
      let moved = false;
      for (const node of nodes) {
        while (node.raw.hasReady) {
          moved = true;
          const said = this.#process(node, (one) => one.process());
          lines.push(`${node.id} ready`, ...said.map((line) => `  ${line}`));
        }
      }
      for (const node of nodes) {
        const due = this.#group.queue.filter((message) => message.to === node.id);
        if (due.length === 0) continue;
        moved = true;
        this.#group.queue = this.#group.queue.filter((message) => message.to !== node.id);
        for (const message of due) {
          lines.push(`deliver ${describeMessage(message)}`);
          const fault = node.raw.step(message);
          if (fault !== undefined) lines.push(`  refused: ${fault}`);
        }
      }
      if (moved) continue;
      return quiet || lines.length === 0 ? OK : lines;
    }
    throw new Error('the group does not settle');
  }

  #node(number: string | undefined): TestNode {
    return this.#group.node(Number(number));
  }

  #nodes(numbers: readonly string[]): readonly TestNode[] {
    return numbers.length === 0 ? [...this.#group.nodes.values()] : numbers.map((number) => this.#node(number));
  }
}

function describeLog(node: TestNode): string {
  const { storage } = node;
  const first = storage.firstIndex();
  const end = logIndex(storage.lastIndex() + 1);
  const entries = storage.entries(first, end, Number.POSITIVE_INFINITY).map(describeEntry);
  return `${node.id}: from ${first} on [${entries.join(', ')}]`;
}

const describeOutcome = (outcome: object): string =>
  Object.entries(outcome)
    .map(([name, value]) => (name === 'kind' ? value : `${name} ${value}`))
    .join(', ');

function idOf(number: string | undefined): NodeId {
  return id(Number(number));
}

const kinds: readonly ConfChange['kind'][] = ['add-voter', 'add-learner', 'remove', 'update'];

function kindOf(text: string | undefined): ConfChange['kind'] {
  const kind = kinds.find((known) => known === text);
  if (kind === undefined) throw new Error(`no change ${text}`);
  return kind;
}
