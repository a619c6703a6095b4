import { isUtf8 } from 'node:buffer';
import { EngramError } from '@engram/core';
import type {
  BidiMethod,
  CallContext,
  Message,
  ServerStreamMethod,
  StreamCall,
  StreamHandler,
  UnaryMethod,
} from '@engram/wire';
import type { ClusterView } from './cluster-view.ts';
import { LeaderRequirement } from './leader-requirement.ts';
import type { ServiceParts } from './service-parts.ts';
import type { ClientObserver, ServicesObserver } from './services-options.ts';

/** Transports give header values byte for byte (latin1), or decoded, with U+FFFD for bytes that were not UTF-8. */
function isText(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code > 0xff) return !value.includes('\ufffd');
    if (code > 0x7f) return /[^\0-\xff]/.test(value) ? !value.includes('\ufffd') : isUtf8(Buffer.from(value, 'latin1'));
  }
  return true;
}

/** Whether a learner answers this request (etcd: isRPCSupportedForLearner). It refuses all others. */
type OfLearner = (request: Uint8Array) => boolean;
const nothing: OfLearner = () => false;

/** Headers that have passed the checks, with the observer that counts their calls. */
class AdmittedHead {
  readonly client: ClientObserver | undefined;

  constructor(client: ClientObserver | undefined) {
    this.client = client;
  }
}

/**
 * Wraps the handlers of methods, so that all of them admit calls alike (etcd
 * server/etcdserver/api/v3rpc/interceptor.go). A learner refuses most calls. The client's version is counted. A member
 * that knows no leader refuses calls that require one.
 */
export class CallAdmission {
  readonly #cluster: ClusterView;
  readonly #observer: ServicesObserver | undefined;
  readonly #leader: LeaderRequirement;

  constructor({ cluster, limits, options: { clock, observer } }: ServiceParts) {
    this.#cluster = cluster;
    this.#observer = observer;
    this.#leader = new LeaderRequirement(cluster, clock, limits.electionTimeoutMs);
  }

  unary(
    handle: (request: Uint8Array, call: CallContext) => Message | Promise<Message>,
    ofLearner: OfLearner = nothing,
  ): UnaryMethod {
    return {
      kind: 'unary',
      handle: (request, call) => {
        if (this.#cluster.isLearner && !ofLearner(request)) throw new EngramError('NotSupportedForLearner');
        this.#admit('unary', call);
        return handle(request, call);
      },
    };
  }

  bidi(open: (call: StreamCall) => StreamHandler): BidiMethod {
    return {
      kind: 'bidi',
      open: (call) => {
        if (this.#cluster.isLearner) throw new EngramError('NotSupportedForLearner');
        this.#admit('stream', call);
        return this.#leader.watch(call, open(call));
      },
    };
  }

  serverStream(
    open: (request: Uint8Array, call: StreamCall) => StreamHandler,
    ofLearner: OfLearner = nothing,
  ): ServerStreamMethod {
    return {
      kind: 'server-stream',
      open: (request, call) => {
        if (this.#cluster.isLearner && !ofLearner(request)) throw new EngramError('NotSupportedForLearner');
        this.#admit('stream', call);
        return this.#leader.watch(call, open(request, call));
      },
    };
  }

  #admit(type: 'unary' | 'stream', call: CallContext): void {
    const { head } = call;
    if (!(head.admitted instanceof AdmittedHead)) head.admitted = this.#admitHead(type, call);
    else head.admitted.client?.request();
    this.#leader.check(call);
  }

  #admitHead(type: 'unary' | 'stream', call: CallContext): AdmittedHead {
    const version = call.metadata('client-api-version');
    if (version !== undefined && !isText(version)) throw new EngramError('InvalidClientAPIVersion');
    const client = this.#observer?.client?.(type, version ?? 'unknown');
    client?.request();
    return new AdmittedHead(client);
  }
}
