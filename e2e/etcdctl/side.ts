import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { newStorePlace, type StorePlace, StoreProcess } from '../../test/support/store-process.ts';
import { decode } from '../differential/messages.ts';
import type { Ended } from './tool.ts';

const FLAGS = ['--watch-progress-notify-interval=500ms', '--auth-token-ttl=3000', '--bcrypt-cost=4'];

const STATUS_MAX_MS = 30_000;
const POLL_MS = 50;

/** How a tool ended, in a form in which what each store chooses has a common name. */
export interface Shown {
  readonly end: number | string;
  readonly stdout: string;
  readonly stderr: string;
}

/** The member of a cluster that is asked, by what it is there: the text by which its address, id and name are known. */
const ROLES = ['leader', 'first', 'second'] as const;

/** One of the two stores, a folder for its files, and the names of what it chose itself. */
export class Side implements AsyncDisposable {
  readonly #name: string;
  readonly #folder: string;
  /** The members that were started at once; then those that have joined. */
  readonly #members: StoreProcess[];
  readonly #command: readonly string[];
  readonly #flags: readonly string[];
  /** Texts and their common names; the longest first. */
  #names: readonly (readonly [text: string, name: string])[] = [];

  private constructor(
    name: string,
    folder: string,
    members: readonly StoreProcess[],
    command: readonly string[],
    flags: readonly string[],
  ) {
    this.#name = name;
    this.#folder = folder;
    this.#members = [...members];
    this.#command = command;
    this.#flags = flags;
    this.learn('dir', folder);
  }

  /** Starts a store of one member. */
  static async start(name: string, folder: string, command: readonly string[]): Promise<Side> {
    const place = await newStorePlace(join(folder, 'store'));
    const side = new Side(name, folder, [await StoreProcess.start(place, { command, flags: FLAGS })], command, FLAGS);
    side.learn('endpoint', side.endpoint);
    side.learn('peer', `127.0.0.1:${place.peerPort}`);
    await side.#untilStored(side.endpoint);
    const { cluster, member } = await side.#identity(side.endpoint);
    side.learnId('cluster', cluster);
    side.learnId('member', member);
    return side;
  }

  /** Starts three members, waits until one leads, and learns who is what. */
  static async startThree(
    name: string,
    folder: string,
    command: readonly string[],
    flags: readonly string[],
  ): Promise<Side> {
    const places = await Promise.all(['a', 'b', 'c'].map((one) => newStorePlace(join(folder, one))));
    const initial = places.map((place, at) => `${nameOf(at)}=http://127.0.0.1:${place.peerPort}`).join();
    const all = [...FLAGS, ...flags, `--initial-cluster=${initial}`];
    const started = places.map(
      (place, at) => new StoreProcess(place, { command, flags: [...all, `--name=${nameOf(at)}`] }),
    );
    const side = new Side(name, folder, started, command, all);
    // Three at once take longer than the one for which the wait is made.
    await Promise.all(started.map((member) => member.ready().catch(() => member.ready())));
    await Promise.all(started.map((member) => side.#untilStored(member.endpoint)));
    const identities = await Promise.all(started.map((member) => side.#identity(member.endpoint)));
    const order = identities
      .map((_identity, at) => at)
      .toSorted((a, b) => Number(identities[b]!.leads) - Number(identities[a]!.leads));
    for (const [at, role] of ROLES.entries()) {
      const member = order[at]!;
      side.learnId(role, identities[member]!.member);
      side.learn(`${role}name`, nameOf(member));
      side.learn(role === 'leader' ? 'endpoint' : `${role}endpoint`, started[member]!.endpoint);
      side.learn(`${role}peer`, `127.0.0.1:${places[member]!.peerPort}`);
    }
    side.learnId('cluster', identities[0]!.cluster);
    return side;
  }

  get name(): string {
    return this.#name;
  }

  /** host:port of the first member. */
  get endpoint(): string {
    return this.#members[0]!.endpoint;
  }

  /** Where a learner will be: `$learnerpeer` is its peer address. */
  async placeLearner(): Promise<StorePlace> {
    const place = await newStorePlace(join(this.#folder, 'learner'));
    this.learn('learnerpeer', `127.0.0.1:${place.peerPort}`);
    this.learn('learnerendpoint', `127.0.0.1:${place.clientPort}`);
    return place;
  }

  /** Starts a learner that was added. */
  startLearner(place: StorePlace): void {
    const initial = this.#flags.find((flag) => flag.startsWith('--initial-cluster='));
    const learner = `${initial},learner=http://127.0.0.1:${place.peerPort}`;
    const own = [...this.#flags, learner, '--name=learner', '--initial-cluster-state=existing'];
    this.#members.push(new StoreProcess(place, { command: this.#command, flags: own }));
  }

  /** Gives a text that the store chose a name: `$name` in arguments becomes the text, the text in outputs `$name`. */
  learn(name: string, text: string): void {
    const others = this.#names.filter(([, known]) => known !== `$${name}`);
    this.#names = [...others, [text, `$${name}`] as const].toSorted(([a], [b]) => b.length - a.length);
  }

  /** Learns an id by its hexadecimal form, and its decimal one under the same name with "10" behind it. */
  learnId(name: string, hex: string): void {
    this.learn(name, hex);
    this.learn(`${name}10`, String(BigInt(`0x${hex}`)));
  }

  filled(arg: string): string {
    return arg.replace(/\$([a-z][a-z0-9]*)/g, (whole) => this.#names.find(([, name]) => name === whole)?.[0] ?? whole);
  }

  /** `message` is the type of a protobuf output. */
  shown({ end, stdout, stderr }: Ended, message?: string): Shown {
    const text = message === undefined ? stdout.toString() : this.#decoded(stdout, message);
    return { end, stdout: this.#masked(text), stderr: this.#masked(stderr) };
  }

  /** etcdctl can list and disarm alarms, and not raise one. */
  async raiseAlarm(alarm: string): Promise<void> {
    await ask(this.endpoint, '/v3/maintenance/alarm', { action: 'ACTIVATE', alarm });
  }

  /** Waits until the member at this endpoint leads. */
  async untilLeads(endpoint: string): Promise<void> {
    const waited = AbortSignal.timeout(STATUS_MAX_MS);
    while (!(await this.#identity(endpoint)).leads) await sleep(POLL_MS, undefined, { signal: waited });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#members.map((member) => member.kill()));
  }

  /** Until the storage of an etcd has its version, some seconds after its start, that member answers otherwise. */
  async #untilStored(endpoint: string): Promise<void> {
    const waited = AbortSignal.timeout(STATUS_MAX_MS);
    while (!(await ask(endpoint, '/v3/maintenance/status', {})).includes('"storageVersion":"3.7'))
      await sleep(POLL_MS, undefined, { signal: waited });
  }

  async #identity(
    endpoint: string,
  ): Promise<{ readonly cluster: string; readonly member: string; readonly leads: boolean }> {
    const status = await ask(endpoint, '/v3/maintenance/status', {});
    const [cluster, member, leader] = ['cluster_id', 'member_id', 'leader'].map((field) => {
      const id = new RegExp(`"${field}":"(\\d+)"`).exec(status)?.[1];
      return id === undefined ? '' : BigInt(id).toString(16);
    });
    if (cluster === undefined || member === undefined || member === '')
      throw new Error(`no status of ${this.#name}: ${status}`);
    return { cluster, member, leads: leader === member };
  }

  #decoded(bytes: Uint8Array, message: string): string {
    if (bytes.length === 0) return '';
    const show = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? `${value}` : value);
    return JSON.stringify(
      decode(message, bytes, () => undefined),
      show,
    );
  }

  #masked(text: string): string {
    let masked = withoutBorders(text);
    for (const [chosen, name] of this.#names) masked = masked.replaceAll(chosen, name);
    for (const [pattern, instead] of MASKS) masked = masked.replace(pattern, instead);
    return masked;
  }
}

/** The rows of a table as those of the simple form: its columns are as wide as what is in them. */
const withoutBorders = (text: string): string =>
  text.replace(/^[┌├└][^\n]*\n/gm, '').replace(/^│([^\n]*)│$/gm, (_row, cells: string) =>
    cells
      .split('│')
      .map((cell) => cell.trim())
      .join(', '),
  );

const nameOf = (member: number): string => `member-${'abc'[member]}`;

async function ask(endpoint: string, path: string, body: unknown): Promise<string> {
  const answer = await fetch(`http://${endpoint}${path}`, { method: 'POST', body: JSON.stringify(body) });
  return answer.text();
}

/** What depends on the time, on the machine, or on the way to store things. */
const MASKS: readonly (readonly [RegExp, string])[] = [
  // Lines of the client's log.
  [/"ts":"[^"]*"/g, '"ts":"TIME"'],
  [/^\d{4}-\d\d-\d\dT\S+Z/gm, 'TIME'],
  [/("current-db-size[^"]*"|"finished-db-size[^"]*"|"total-size"|"took"): [^,}]*/g, '$1: N'],
  [/\b0x[0-9a-f]{2,}\b/g, 'POINTER'],
  [/LocalAddr: '[^']*'/g, "LocalAddr: 'PORT'"],
  [/"attempt":\d+/g, '"attempt":N'],
  [/"took":"(?:now|\d+ seconds? ago)"/g, '"took":"TIME"'],
  // protobuf-go writes one or two spaces, so that programs do not compare its texts.
  [/(memberID:\S+) +/g, '$1 '],
  [/\[(?:\d+ ){31}\d+\]/g, '[SHA-256]'],
  // Terms, indexes and sizes, as each format names them.
  [/"(raft_?term|raft_?(applied_?)?index|db_?size|db_?size_?in_?use)":"?\d+"?/gi, '"$1":N'],
  [/^"(RaftTerm|RaftIndex|RaftAppliedIndex|DBSize|DBSizeInUse)" : \d+/gm, '"$1" : N'],
  [/\b\d+(\.\d+)? (B|kB|MB)\b/g, 'SIZE'],
  [/\b\d+%/g, 'N%'],
  [/((?:true|false), (?:true|false)), \d+, \d+, \d+,/g, '$1, TERM, INDEX, INDEX,'],
  // Durations, after the words behind which they stand.
  [/(took = |took |"took":"|"Took" : )[\d.]+\S{0,3}s/g, '$1TIME'],
  [/, (true|false), [\d.]+\S{0,3}s, /g, ', $1, TIME, '],
  // The remaining time of leases that were granted for 100000 seconds.
  [/\b(99[5-9]\d\d|100000)\b/g, 'TTL'],
  // Ids that nobody gave a name.
  [/\b[0-9a-f]{14,16}\b/g, 'ID'],
  [/\b\d{17,20}\b/g, 'ID'],
  // Sentences of etcdctl pad an id that begins with zeros to 16 places.
  [/\b(Member|cluster) +(?=\$|ID\b)/g, '$1 '],
  // How often something is repeated depends on the time that it has.
  [/^((?:progress notify: |lease ID keepalived |lease \$\w+ keepalived ).*\n)\1+/gm, '$1'],
];
