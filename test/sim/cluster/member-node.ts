import type { SimHost } from '@engram/sim';
import type { MemberLife } from './member-life.ts';

/** A machine of the cluster, over all lives of its member. */
export class MemberNode<Life extends MemberLife = MemberLife> {
  readonly id: bigint;
  readonly host: SimHost;
  life: Life | undefined;
  /** True if its member is not one of the first members. */
  readonly joins: boolean;
  /** True once its member was removed. The node is not started again. */
  removed = false;
  /** True if the node was taken for removed before it had joined. It is started again if a member lists it later. */
  takenForRemoved = false;
  /** True while its program is of the version before. */
  before = false;
  /** True while the node stays dead, whatever would start it. */
  lost = false;
  /** True if a start is scheduled. */
  starting = false;
  /** True once another process takes the member's state over. The node must end by itself, and is not started again. */
  superseded = false;

  constructor(id: bigint, host: SimHost, joins: boolean) {
    this.id = id;
    this.host = host;
    this.joins = joins;
  }

  get name(): string {
    return this.host.name;
  }

  /** The current life, even if it is paused or does not serve yet. */
  get alive(): Life | undefined {
    return this.life?.process.alive === true ? this.life : undefined;
  }

  /** The life that takes requests. */
  get serving(): Life | undefined {
    const life = this.alive;
    return life?.face === undefined || life.stopping ? undefined : life;
  }
}
