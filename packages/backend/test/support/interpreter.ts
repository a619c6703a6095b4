import { type Backend, type Caller, nodeItself, openReplica } from '@engram/backend';
import { epoch, keyBytes, leaseId, pointRange } from '@engram/core';
import { parseTxn, Prng, quiet, Scheduler, SharedLog, SimClock } from '@engram/sim';
import type { AppendFault, StorageOperation } from '@engram/storage';
import { inSlicesOf, watchInto } from '../harness.ts';
import { get } from '../ops.ts';
import { describeError, describeIndex, describeTxn } from './described.ts';
import { ToldSink, ToldSpan, ToldStorage } from './told.ts';

interface TestNode {
  readonly backend: Backend;
  readonly storage: ToldStorage;
}

type Options = ReadonlyMap<string, string>;
type Command = (words: readonly string[], options: Options) => void | Promise<void>;

/**
 * Runs the commands of a transcript on nodes that share a log: testdata/README.md lists them. Words of the form name=value before
 * the transaction are options. After a command everything happens that is due.
 */
export class Interpreter {
  #log = new SharedLog('log');
  #clock = new SimClock({ scheduler: new Scheduler() });
  readonly #nodes = new Map<string, TestNode>();
  #lines: string[] = [];
  readonly #tell = (line: string): void => void this.#lines.push(line);

  readonly #commands: Readonly<Record<string, Command>> = {
    nodes: (_, options) => {
      const turnMs = Number(options.get('turn') ?? 0);
      this.#log = new SharedLog('log');
      this.#clock = new SimClock({ scheduler: new Scheduler(), turnMs: () => turnMs });
      this.#nodes.clear();
    },
    open: ([name = ''], options) => this.#open(name, options),
    lead: ([name = '', number]) =>
      this.#report(`${name} leads`, this.#node(name).backend.lead(epoch(Number(number))), () => this.#ends(name)),
    'step-down': ([name = '']) =>
      this.#report(`${name} has stepped down`, this.#node(name).backend.stepDown(), () => this.#ends(name)),
    stop: ([name = '']) => {
      this.#node(name).storage.crash();
      this.#nodes.delete(name);
    },
    follow: async ([name = '']) => {
      const { replica } = this.#node(name).backend;
      for (const batch of this.#log.batchesFrom(replica.next)) await replica.follow(batch);
      this.#report(`${name} has applied`, replica.whenApplied(), () => this.#ends(name));
    },
    watch: ([name = '', watcher = '', key]) => {
      const { backend } = this.#node(name);
      const sink = new ToldSink(watcher, () => backend.revision, this.#tell);
      watchInto(backend, sink, backend.revision + 1, key === undefined ? undefined : pointRange(keyBytes(key)));
    },
    hold: ([name = '', operation]) => this.#node(name).storage.hold(operation as StorageOperation),
    let: ([name = '', operation, fault]) =>
      this.#node(name).storage.letGo(operation as StorageOperation, (fault ?? 'none') as AppendFault),
    free: ([name = '', operation]) => this.#node(name).storage.free(operation as StorageOperation),
    pass: ([ms]) => this.#clock.pass(Number(ms)),
    txn: ([name = '', call = '', ...words], options) => {
      const txn = parseTxn(words.join(' '));
      this.#call(name, call, options, (backend, caller) => backend.txn(txn, caller).then(describeTxn));
    },
    grant: ([name = '', call = '', id = ''], options) =>
      this.#call(name, call, options, async (backend, caller) => {
        const lease = await backend.leaseGrant(leaseId(BigInt(id)), 100, caller);
        return `lease ${lease.id}`;
      }),
    revoke: ([name = '', call = '', id = ''], options) =>
      this.#call(name, call, options, async (backend, caller) => {
        return `revision ${await backend.leaseRevoke(leaseId(BigInt(id)), caller)}`;
      }),
    read: ([name = '', key = '']) => {
      const { backend } = this.#node(name);
      const answer = backend.range({ ...get(key), serializable: true }, nodeItself);
      void Promise.resolve(answer).then((range) => {
        const text = describeTxn({ kind: 'txn', revision: range.revision, succeeded: true, responses: [range] });
        this.#tell(`${name} reads: ${text}`);
      });
    },
    state: ([name = '']) => {
      const { backend } = this.#node(name);
      const { assigned } = backend.leadership ?? {};
      const decided = assigned === undefined ? '' : `, decided up to ${assigned.revision}`;
      this.#tell(`${this.#ends(name)}${decided}`);
      for (const line of describeIndex(backend.replica.state.index)) this.#tell(line);
    },
  };

  async run(line: string): Promise<readonly string[]> {
    const [name = '', ...words] = line.split(' ');
    const command = this.#commands[name];
    if (command === undefined) throw new Error(`no command ${name}`);
    const options = words.filter((word) => /^[a-z]+=\S/.test(word)).map((word) => word.split('=') as [string, string]);
    await command(
      words.filter((word) => !/^[a-z]+=\S/.test(word)),
      new Map(options),
    );
    await this.#clock.pass(0);
    return this.#lines.splice(0);
  }

  #node(name: string): TestNode {
    const node = this.#nodes.get(name);
    if (node === undefined) throw new Error(`no node ${name}`);
    return node;
  }

  async #open(name: string, options: Options): Promise<void> {
    const clock = this.#clock;
    const storage = new ToldStorage(name, this.#log, options.has('cold'), this.#tell);
    const limit = (of: string): number | undefined => (options.has(of) ? Number(options.get(of)) : undefined);
    const [cacheBytesMax, waitingBytesMax, slice] = [limit('cache'), limit('waiting'), limit('slice')];
    const opening = openReplica({
      storage,
      clock,
      random: new Prng(7),
      logger: quiet,
      memberId: BigInt(name),
      onDeposed: ({ kind }) => this.#tell(`${name} is deposed: ${kind}`),
      onFatal: ({ message, cause }) => this.#tell(`${name} must end: ${message}: ${String(cause)}`),
      ...(cacheBytesMax === undefined ? {} : { cacheBytesMax }),
      ...(waitingBytesMax === undefined ? {} : { waitingBytesMax }),
      ...(slice === undefined ? {} : inSlicesOf(slice, clock)),
    });
    const backend = await clock.run(opening);
    backend.replica.onForwarded = ({ origin }) =>
      this.#tell(`${name} has the write that ${origin?.memberId} forwarded as ${origin?.sequence}`);
    this.#nodes.set(name, { backend, storage });
    if (options.has('lead')) await clock.run(backend.lead(epoch(Number(options.get('lead')))));
    this.#tell(this.#ends(name));
  }

  #ends(name: string): string {
    const { replica } = this.#node(name).backend;
    return `${name} is at revision ${replica.revision}, next position ${replica.next}`;
  }

  /** Calls the node. Says what was decided in this call, and later what the client hears. */
  #call(
    name: string,
    call: string,
    options: Options,
    begin: (backend: Backend, caller: Caller) => Promise<string>,
  ): void {
    const { backend } = this.#node(name);
    const from = options.get('from')?.split('/');
    const caller: Caller = {
      ...nodeItself,
      span: new ToldSpan(call, this.#tell),
      ...(from === undefined ? {} : { origin: { memberId: BigInt(from[0]!), sequence: Number(from[1]) } }),
    };
    const before = backend.leadership?.assigned;
    const answer = begin(backend, caller);
    const after = backend.leadership?.assigned;
    if (after !== undefined && after.next !== before?.next) {
      const revision = after.revision === before?.revision ? 'no revision' : `revision ${after.revision}`;
      this.#tell(`${call} is decided: ${revision}, from position ${before?.next} on`);
    }
    answer.then(
      (text) => this.#tell(`${call} hears: ${text}`),
      (error: unknown) => this.#tell(`${call} hears: ${describeError(error)}`),
    );
  }

  #report(what: string, work: Promise<unknown>, how: () => string): void {
    work.then(
      () => this.#tell(`${what}: ${how()}`),
      (error: unknown) => this.#tell(`not: ${what}: ${describeError(error)}`),
    );
  }
}
