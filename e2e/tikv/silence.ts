import type { Channel, Transport } from '@engram/tikv-client';
import { GrpcTransport } from '@engram/tikv-client/testing';

/** Real sockets that send nothing after `silence`: to the servers the client has died. */
export function silenceable(): { readonly transport: Transport; silence(): void } {
  let silent = false;
  const grpc = new GrpcTransport(undefined);
  const transport: Transport = {
    connect(address, secure): Channel {
      const channel = grpc.connect(address, secure);
      return {
        unary: (...args) => (silent ? new Promise(() => {}) : channel.unary(...args)),
        close: () => channel.close(),
        stream(method, events, metadata) {
          const stream = channel.stream(method, events, metadata);
          return {
            get waitingBytes() {
              return stream.waitingBytes;
            },
            cancel: () => stream.cancel(),
            write: (message) => (silent ? undefined : stream.write(message)),
          };
        },
      };
    },
  };
  return {
    transport,
    silence: () => {
      silent = true;
    },
  };
}

/** Real sockets that, while `deaf`, send everything and deliver no answer of the stores. Answers of PD are always delivered. */
export function deafenable(): { readonly transport: Transport; deaf: boolean } {
  const grpc = new GrpcTransport(undefined);
  const state = {
    deaf: false,
    transport: {
      connect(address: string, secure: boolean): Channel {
        const channel = grpc.connect(address, secure);
        return {
          unary: (method, ...rest) =>
            state.deaf && method.startsWith('/tikvpb.Tikv/') ? new Promise(() => {}) : channel.unary(method, ...rest),
          close: () => channel.close(),
          stream: (method, events, metadata) =>
            channel.stream(
              method,
              {
                message: (bytes) => {
                  if (!state.deaf || method === '/pdpb.PD/Tso') events.message(bytes);
                },
                end: (error) => events.end(error),
              },
              metadata,
            ),
        };
      },
    },
  };
  return state;
}
