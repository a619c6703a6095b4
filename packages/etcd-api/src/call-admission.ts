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
import type { ServicesObserver } from './services-options.ts';

/**
 * What every call passes first (etcd server/etcdserver/api/v3rpc/interceptor.go): the client's version is counted.
 * `hasleader: true` asks to be refused by a member that knows no leader; a store that serves has one, itself.
 */
function admit(type: 'unary' | 'stream', call: CallContext, observer: ServicesObserver | undefined): void {
  const version = call.metadata('client-api-version');
  if (version !== undefined && !isText(version)) throw new EngramError('InvalidClientAPIVersion');
  observer?.clientRequest?.(type, version ?? 'unknown');
}

/** A transport gives header values byte for byte (latin1), or decoded, with U+FFFD for what was no UTF-8. */
function isText(value: string): boolean {
  for (let at = 0; at < value.length; at += 1) {
    const code = value.charCodeAt(at);
    if (code > 0xff) return !value.includes('\ufffd');
    if (code > 0x7f) return /[^\0-\xff]/.test(value) ? !value.includes('\ufffd') : isUtf8(Buffer.from(value, 'latin1'));
  }
  return true;
}

/** Wraps the handlers of methods, so that all of them admit their calls alike. */
export class CallAdmission {
  readonly #observer: ServicesObserver | undefined;

  constructor(observer: ServicesObserver | undefined) {
    this.#observer = observer;
  }

  unary(handle: (request: Uint8Array, call: CallContext) => Message | Promise<Message>): UnaryMethod {
    return {
      kind: 'unary',
      handle: (request, call) => {
        admit('unary', call, this.#observer);
        return handle(request, call);
      },
    };
  }

  bidi(open: (call: StreamCall) => StreamHandler): BidiMethod {
    return {
      kind: 'bidi',
      open: (call) => {
        admit('stream', call, this.#observer);
        return open(call);
      },
    };
  }

  serverStream(open: (request: Uint8Array, call: StreamCall) => StreamHandler): ServerStreamMethod {
    return {
      kind: 'server-stream',
      open: (request, call) => {
        admit('stream', call, this.#observer);
        return open(request, call);
      },
    };
  }
}
