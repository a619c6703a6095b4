import { assert, type Epoch } from '@engram/core';

/**
 * Where a member stands.
 * `following`: its replica takes what the leader commits.
 * `sealing`: it takes nothing more, and its seal is on the way to the log.
 * `reading`: the log has the seal, and the records before it take effect.
 * `leading`: its store decides.
 * `ending`: what is not durable is undone.
 */
export type Stage =
  | { readonly at: 'following' }
  | { readonly at: 'sealing' | 'reading' | 'leading' | 'ending'; readonly epoch: Epoch };

/** What a member is asked for. It waits while a transition is under way. */
type Request =
  /** The election: take over in this epoch. */
  | { readonly kind: 'lead'; readonly epoch: Epoch }
  /** The election: the leadership of this epoch has ended in Raft. */
  | { readonly kind: 'step-down'; readonly epoch: Epoch }
  /** The log takes no more appends of this epoch. */
  | { readonly kind: 'fenced'; readonly epoch: Epoch }
  /** A later seal holds the log, as a check of this epoch's seal has found. */
  | { readonly kind: 'superseded'; readonly epoch: Epoch };

export type TransitionInput =
  | Request
  /** Outcomes of `take-over`: first `sealed`, then one of the others. A member that was refused may try again later. */
  | { readonly kind: 'sealed' | 'led' | 'refused' }
  /** The outcome of `end`. */
  | { readonly kind: 'ended' }
  /** `take-over` or `end` has broken an invariant: the node ends. */
  | { readonly kind: 'failed' }
  /** The member stops: it begins nothing more. */
  | { readonly kind: 'close' };

export type TransitionEffect =
  /** Callers wait no longer for the log's word that this member leads. */
  | { readonly kind: 'end-checks' }
  /** Stop following, seal the log, read it to its end, lead. */
  | { readonly kind: 'take-over'; readonly epoch: Epoch }
  /** Tell the members that this one leads. */
  | { readonly kind: 'announce'; readonly epoch: Epoch }
  /** End the streams of the followers, and the leadership of the store. */
  | { readonly kind: 'end'; readonly epoch: Epoch; readonly why: Exclude<Request['kind'], 'lead'> }
  /** Take what the leader commits. */
  | { readonly kind: 'follow' }
  /** Tell the election that the store is done with this epoch. */
  | { readonly kind: 'resign'; readonly epoch: Epoch };

/**
 * The transitions of a member between following and leading, one at a time. Pure: `offer` takes an input, and returns the
 * effects that it has, in their order. The outcome of an effect comes back as an input.
 *
 * Invariants: at most one of `take-over` and `end` is under way. Each epoch that the election asks to lead is led or resigned,
 * unless the member stops first. A member that leads does not follow.
 */
export class Transitions {
  readonly #waiting: Request[] = [];
  #stage: Stage = { at: 'following' };
  #closing = false;

  get stage(): Stage {
    return this.#stage;
  }

  offer(input: TransitionInput): readonly TransitionEffect[] {
    switch (input.kind) {
      case 'lead':
      case 'fenced':
      case 'superseded':
        this.#waiting.push(input);
        return this.#next();
      case 'step-down':
        this.#waiting.push(input);
        return [{ kind: 'end-checks' }, ...this.#next()];
      case 'sealed':
        this.#stage = { at: 'reading', epoch: this.#epochAt('sealing') };
        return [];
      case 'led':
        this.#stage = { at: 'leading', epoch: this.#epochAt('reading') };
        return [{ kind: 'announce', epoch: this.#stage.epoch }, ...this.#next()];
      case 'refused': {
        const epoch = this.#epochAt('sealing', 'reading');
        this.#stage = { at: 'following' };
        // A store that closes refuses as well: nobody follows or stands for election any more.
        return [...(this.#closing ? [] : [FOLLOW, resign(epoch)]), ...this.#next()];
      }
      case 'ended': {
        const epoch = this.#epochAt('ending');
        this.#stage = { at: 'following' };
        return [...(this.#closing ? [] : [FOLLOW]), resign(epoch), ...this.#next()];
      }
      case 'failed':
        this.#stage = { at: 'following' };
        return this.#next();
      case 'close':
        this.#closing = true;
        return [{ kind: 'end-checks' }];
    }
  }

  /** Takes the requests that wait, until one begins a transition. */
  #next(): readonly TransitionEffect[] {
    const effects: TransitionEffect[] = [];
    while (this.#stage.at === 'following' || this.#stage.at === 'leading') {
      const request = this.#waiting.shift();
      if (request === undefined) break;
      effects.push(...(this.#stage.at === 'following' ? this.#atFollower(request) : this.#atLeader(request)));
    }
    return effects;
  }

  #atFollower({ kind, epoch }: Request): readonly TransitionEffect[] {
    // The leadership that the log refuses has ended already.
    if (kind === 'fenced' || kind === 'superseded') return [];
    if (kind === 'step-down') return [resign(epoch)];
    if (this.#closing) return [];
    this.#stage = { at: 'sealing', epoch };
    return [{ kind: 'take-over', epoch }];
  }

  #atLeader({ kind, epoch }: Request): readonly TransitionEffect[] {
    assert(kind !== 'lead', 'the election asks a member to lead that leads');
    if (epoch !== this.#epochAt('leading')) return kind === 'step-down' ? [resign(epoch)] : [];
    this.#stage = { at: 'ending', epoch };
    return [{ kind: 'end', epoch, why: kind }];
  }

  /** The epoch of the stage, which must be one of these. */
  #epochAt(...expected: readonly Stage['at'][]): Epoch {
    const stage = this.#stage;
    assert(stage.at !== 'following' && expected.includes(stage.at), `a transition does not fit the stage ${stage.at}`);
    return stage.epoch;
  }
}

const FOLLOW: TransitionEffect = { kind: 'follow' };
const resign = (epoch: Epoch): TransitionEffect => ({ kind: 'resign', epoch });
