import { SimClock, type SimHost } from '@engram/sim';
import { FakeCluster } from '@engram/tikv-client/testing';
import type { MemberLifeParts } from '../cluster/member-life.ts';
import { MemberNode } from '../cluster/member-node.ts';
import { MembersWorld } from '../cluster/members-world.ts';
import { Finding } from '../judge/finding.ts';
import { StoresLog } from './stores-log.ts';
import { keys, TikvLife } from './tikv-life.ts';
import type { TikvPlan } from './tikv-plan.ts';
import { TikvTroubles } from './tikv-troubles.ts';

/** A machine of a cluster on the scripted stores. */
export class TikvNode extends MemberNode<TikvLife> {
  /** True until a start has let the member go on alone, without the others. */
  forces = false;
}

const STORES = 3;
const PD_MEMBERS = 3;

/** What a process of a member has said of its needs. */
interface Need {
  readonly member: bigint;
  readonly from: number;
  readonly atMs: number;
}

/** A cluster whose members run on the real storage over scripted stores. */
export class TikvWorld extends MembersWorld<TikvLife, TikvNode> {
  declare readonly plan: TikvPlan;
  readonly stores: FakeCluster;
  readonly storesLog: StoresLog;
  readonly troubles: TikvTroubles;
  /** Members for which the newest image has not waited, and the position with which each is back. */
  readonly forgotten = new Map<bigint, number>();
  readonly #needs = new Map<string, Need>();

  constructor(plan: TikvPlan, told: boolean, line?: (line: string) => void) {
    super(plan, told, line);
    const clock = new SimClock({ scheduler: this.scheduler });
    this.stores = new FakeCluster({ clock, stores: STORES, pdMembers: PD_MEMBERS, keepsCalls: false });
    this.storesLog = new StoresLog({
      stores: this.stores,
      keys,
      onBatch: (batch, seal) => this.durable(batch, seal),
      onSealed: (seal) => this.sealed(seal),
      onSegment: (segment, from) =>
        this.tell(() => `  segment ${segment} begins${from === undefined ? '' : ` at ${from}`}`),
      onImageRoot: (root, before) => {
        const { image, trimmed } = root;
        if (image !== undefined && image.round !== before?.image?.round) {
          this.tell(() => `  published image ${image.round} from ${image.from}`);
          this.#published();
        }
        if (trimmed !== (before?.trimmed ?? 1)) this.tell(() => `  trimmed the log before ${trimmed}`);
      },
      onNeed: ({ member, process }, from) => {
        this.#needs.set(`${member}/${process}`, { member, from, atMs: this.nowMs });
        const enough = this.forgotten.get(member);
        if (enough !== undefined && from >= enough) this.forgotten.delete(member);
      },
      onPiece: (key) => this.troubles.pieceWritten(key),
      guarded: (work) => this.guarded(work),
    });
    this.troubles = new TikvTroubles(this);
    this.found();
  }

  override get settings(): TikvPlan['settings'] {
    return this.plan.settings;
  }

  healStorage(): void {
    this.troubles.heal();
    const { refusal } = this.stores;
    if (refusal !== undefined)
      this.fail(new Finding('broken', `a store refuses: ${refusal.message}`, { cause: refusal }));
  }

  loseCopy(node: TikvNode): void {
    this.tell(() => `${node.name} has lost its copy`);
  }

  protected makeNode(id: bigint, host: SimHost, joins: boolean): TikvNode {
    const node = new TikvNode(id, host, joins);
    // Who joins those that a member is about to leave behind is left behind with them.
    node.superseded = this.nodes.some((other) => other.forces && other.id !== id);
    return node;
  }

  protected makeLife(node: TikvNode, parts: MemberLifeParts): TikvLife {
    const { settings, stores } = this;
    return new TikvLife({ ...parts, settings, stores, node, isForgotten: () => this.forgotten.has(node.id) });
  }

  /** Another machine takes the place of this one. The old process, if it lives, is not told. */
  replace(node: TikvNode): TikvNode {
    node.superseded = true;
    const count = this.nodes.filter(({ id }) => id === node.id).length;
    const name = `${node.name.replace(/'+$/, '')}${"'".repeat(count)}`;
    this.tell(() => `  ${name} is to take the place of ${node.name}`);
    return this.addNode(node.id, name, `host ${name}`, node.joins);
  }

  /** The operator lets this member go on alone. The others, if they live, are not told. */
  force(node: TikvNode): void {
    for (const other of this.nodes) if (other !== node) other.superseded = true;
    node.forces = true;
    this.kill(node);
    this.tell(() => `  ${node.name} is to go on alone`);
    this.startSoon(node);
  }

  override get isSettled(): boolean {
    return super.isSettled && this.nodes.every(({ forces }) => !forces);
  }

  /** An image was published. Processes that were silent for long may still list what it lacks. */
  #published(): void {
    const { silentMaxMs, clockSkew, logTimeoutMs } = this.settings;
    const silentMs = silentMaxMs * (1 - clockSkew) - logTimeoutMs;
    for (const [process, { member, from, atMs }] of this.#needs) {
      if (this.nowMs - atMs <= silentMs) continue;
      if (from < this.history.next) this.forgotten.set(member, this.history.next);
      this.#needs.delete(process);
    }
  }

  protected override warned(fields: object, message: string): void {
    if (!message.startsWith('a member held the log back for too long')) return;
    const { member } = fields as { member?: unknown };
    if (typeof member === 'string') this.forgotten.set(BigInt(`0x${member}`), this.history.next);
  }

  protected isExcused(node: TikvNode, names: readonly string[], error: unknown): boolean {
    if (names[0] === 'StorageUnavailableError' || names[0] === 'StorageOpenError' || names[0] === 'TikvError')
      return true;
    if (names.includes('StorageTrimmedError')) return node.superseded || this.forgotten.has(node.id);
    return node.superseded && names.includes('ElectionError') && /taken its state over/.test(String(error));
  }
}
