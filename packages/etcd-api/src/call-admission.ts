import { isUtf8 } from 'node:buffer';
import { EngramError } from '@engram/core';
import type {
  BidiMethod,
  CallContext,
  CallHooks,
  Message,
  ServerStreamMethod,
  StreamCall,
  StreamHandler,
  UnaryMethod,
} from '@engram/wire';
import type { ClusterView } from './cluster-view.ts';
import { LeaderRequirement } from './leader-requirement.ts';
import type { ServiceParts } from './service-parts.ts';
import type { ClientRequests, ServiceCounts } from './service-counts.ts';

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

const isStream = (call: CallContext): call is StreamCall => 'send' in call;

/** Headers that have passed the checks, with the count of their calls. */
class AdmittedHead {
  readonly requests: ClientRequests;

  constructor(requests: ClientRequests) {
    this.requests = requests;
  }
}

/**
 * Makes methods whose hooks admit all calls alike (etcd server/etcdserver/api/v3rpc/interceptor.go). A learner refuses most
 * calls. The client's version is counted. A member that knows no leader refuses calls that require one, and ends their streams.
 */
export class CallAdmission {
  readonly #cluster: ClusterView;
  readonly #counts: ServiceCounts;
  readonly #leader: LeaderRequirement;

  constructor({ cluster, limits, counts, loop, options: { clock } }: ServiceParts) {
    this.#cluster = cluster;
    this.#counts = counts;
    this.#leader = new LeaderRequirement(cluster, clock, loop, limits.electionTimeoutMs);
  }

  unary(
    handle: (request: Uint8Array, call: CallContext) => Message | Promise<Message>,
    ofLearner: OfLearner = nothing,
  ): UnaryMethod {
    const hooks: CallHooks = { admit: (call, request) => this.#admit('unary', call, request, ofLearner) };
    return { kind: 'unary', hooks, handle };
  }

  bidi(open: (call: StreamCall) => StreamHandler): BidiMethod {
    return { kind: 'bidi', hooks: this.#ofStream(nothing), open };
  }

  serverStream(
    open: (request: Uint8Array, call: StreamCall) => StreamHandler,
    ofLearner: OfLearner = nothing,
  ): ServerStreamMethod {
    return { kind: 'server-stream', hooks: this.#ofStream(ofLearner), open };
  }

  #ofStream(ofLearner: OfLearner): CallHooks {
    return {
      admit: (call, request) => {
        this.#admit('stream', call, request, ofLearner);
        if (isStream(call)) this.#leader.watch(call);
      },
      end: (call) => this.#leader.forget(call),
    };
  }

  #admit(type: 'unary' | 'stream', call: CallContext, request: Uint8Array | undefined, ofLearner: OfLearner): void {
    if (this.#cluster.isLearner && (request === undefined || !ofLearner(request))) {
      throw new EngramError('NotSupportedForLearner');
    }
    const { head } = call;
    const admitted = head.admitted instanceof AdmittedHead ? head.admitted : this.#admitHead(type, call);
    admitted.requests.count += 1;
    this.#leader.check(call);
  }

  #admitHead(type: 'unary' | 'stream', call: CallContext): AdmittedHead {
    const version = call.metadata('client-api-version');
    if (version !== undefined && !isText(version)) throw new EngramError('InvalidClientAPIVersion');
    const admitted = new AdmittedHead(this.#counts.of(type, version ?? 'unknown'));
    call.head.admitted = admitted;
    return admitted;
  }
}
