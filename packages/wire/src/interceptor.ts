import { whenThere } from '@engram/core';
import type { CallContext, CallHooks, Interceptor, Message, MethodTable, RpcStatus, UnaryMethod } from './rpc.ts';
import { messageBytes } from './messages/message.ts';
import { statusOf } from './status.ts';

/**
 * The same methods with the hooks of `interceptors`, which are called in the order of the list, at the end too. Hooks that a
 * method has are called after these. Methods are copied: they are plain objects, without a prototype of their own.
 */
export function intercepted(methods: MethodTable, interceptors: readonly Interceptor[]): MethodTable {
  return new Map(
    [...methods].map(([path, method]) => {
      const hooks = interceptors.map((interceptor) => interceptor.hooks(path, method.kind));
      return [path, { ...method, hooks: chained([...hooks, method.hooks]) }] as const;
    }),
  );
}

function chained(all: readonly (CallHooks | undefined)[]): CallHooks | undefined {
  const hooks = all.filter((one) => one !== undefined);
  return hooks.length < 2 ? hooks[0] : new HookChain(hooks);
}

type With<Name extends keyof CallHooks> = CallHooks & Required<Pick<CallHooks, Name>>;

/** Each list has only the hooks that are there, so that a call allocates nothing and asks for nothing. */
class HookChain implements Required<CallHooks> {
  readonly #begin: readonly With<'begin'>[];
  readonly #received: readonly With<'received'>[];
  readonly #admit: readonly With<'admit'>[];
  readonly #sent: readonly With<'sent'>[];
  readonly #end: readonly With<'end'>[];

  constructor(hooks: readonly CallHooks[]) {
    const having = <Name extends keyof CallHooks>(name: Name): readonly With<Name>[] =>
      hooks.filter((one): one is With<Name> => one[name] !== undefined);
    this.#begin = having('begin');
    this.#received = having('received');
    this.#admit = having('admit');
    this.#sent = having('sent');
    this.#end = having('end');
  }

  begin(call: CallContext): void {
    for (let at = 0; at < this.#begin.length; at += 1) this.#begin[at]!.begin(call);
  }

  received(call: CallContext, bytes: number): void {
    for (let at = 0; at < this.#received.length; at += 1) this.#received[at]!.received(call, bytes);
  }

  admit(call: CallContext, request: Uint8Array | undefined): void {
    for (let at = 0; at < this.#admit.length; at += 1) this.#admit[at]!.admit(call, request);
  }

  sent(call: CallContext, bytes: number): void {
    for (let at = 0; at < this.#sent.length; at += 1) this.#sent[at]!.sent(call, bytes);
  }

  end(call: CallContext, status: RpcStatus, ms: number): void {
    for (let at = 0; at < this.#end.length; at += 1) this.#end[at]!.end(call, status, ms);
  }
}

const succeeded: RpcStatus = { code: 0, message: '' };

/** Calls a method and its hooks, for who is no transport and never cancels the call. `nowMs` reads a clock. */
export function callUnary(
  method: UnaryMethod,
  request: Uint8Array,
  call: CallContext,
  nowMs: () => number,
): Message | Promise<Message> {
  const { hooks } = method;
  if (hooks === undefined) return method.handle(request, call);
  const startMs = nowMs();
  const failed = (error: unknown): never => {
    hooks.end?.(call, statusOf(error), nowMs() - startMs);
    throw error;
  };
  const answered = (message: Message): Message => {
    hooks.sent?.(call, messageBytes(message));
    hooks.end?.(call, succeeded, nowMs() - startMs);
    return message;
  };
  hooks.begin?.(call);
  hooks.received?.(call, request.length);
  let answer: Message | Promise<Message>;
  try {
    hooks.admit?.(call, request);
    answer = method.handle(request, call);
  } catch (error) {
    return failed(error);
  }
  return whenThere(answer, answered, undefined, failed);
}
