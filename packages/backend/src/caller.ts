import type { AnswerAccount, Span, TraceContext } from '@engram/core';

/**
 * The client for which a call is made. It is passed with every write, lease call and linearizable read, also to
 * another node that does the work.
 */
export interface Caller extends AnswerAccount {
  /** Whose part of the event loop's time the call takes: its connection, or the member that forwarded it. Undefined: the node. */
  readonly client?: object | string | undefined;
  /**
   * Aborts when the client no longer waits for the answer. It may be created at first use, so a call that needs no
   * signal should not read it.
   */
  readonly signal: AbortSignal;
  /** The node itself, for which no user counts: everything is permitted. Undefined: a client. */
  readonly isNode?: boolean | undefined;
  /** The authenticated user; empty if there is none. */
  readonly user: string;
  /** The revision of the users' and roles' data at which `user` was authenticated; 0 if not authenticated. */
  readonly authRevision: number;
  /** How long the caller waits from now on. Undefined: as long as the store lets any call wait. */
  readonly timeoutMs: number | undefined;
  /** The path of the call, for metrics and logs. */
  readonly method?: string | undefined;
  /** The member that forwarded the call. The log stores it with the write, so that the member can find the write there. */
  readonly origin?: Origin | undefined;
  /**
   * For a member that forwarded a transaction: it reads an answer of more bytes from its own replica (`recallDecided`). The
   * result then has no key-values, and says after which revision the transaction came. Undefined: every answer is made.
   */
  readonly recallAboveBytes?: number | undefined;
  /** The span in which the call is made. It goes along when the call is forwarded. Nothing is decided by it. */
  readonly trace?: TraceContext | undefined;
  /** Records the stages of the call on this node; undefined if the call is not recorded. Its owner ends it. */
  readonly span?: Span | undefined;
}

const neverAborted = new AbortController().signal;

/**
 * A call that a member forwarded to the leader. `sequence` is the member's own count of such calls. It uses each
 * number once in its life.
 */
export interface Origin {
  readonly memberId: bigint;
  readonly sequence: number;
}

/** The caller of the node's own calls: its health checks, its own compactions, its tests. */
export const nodeItself: Caller = {
  signal: neverAborted,
  isNode: true,
  user: '',
  authRevision: 0,
  timeoutMs: undefined,
};
