import type { Channel, Transport } from '@engram/tikv-client';
import { GrpcTransport } from '@engram/tikv-client/testing';

/** Real sockets on which, after `silence`, nothing leaves any more: to the servers the client has died. */
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
          return { cancel: () => stream.cancel(), write: (message) => (silent ? undefined : stream.write(message)) };
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
