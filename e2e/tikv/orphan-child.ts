// Locks two keys and never commits them; says so on stdout and waits to be killed: node orphan-child.ts PD 2pc|async
import { TikvClient, type Channel, type Transport } from '@engram/tikv-client';
import { GrpcTransport } from '../../packages/tikv-client/src/transport/grpc-transport.ts';

const [pd, mode] = process.argv.slice(2);
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Real sockets, on which nothing leaves any more after the prewrite. */
let silent = false;
const grpc = new GrpcTransport(undefined);
const transport: Transport = {
  connect(address, secure): Channel {
    const channel = grpc.connect(address, secure);
    return {
      unary: (...args) => channel.unary(...args),
      close: () => channel.close(),
      stream(method, events, metadata) {
        const stream = channel.stream(method, events, metadata);
        return { cancel: () => stream.cancel(), write: (message) => (silent ? undefined : stream.write(message)) };
      },
    };
  },
};
const client = await TikvClient.connect({
  pdAddresses: pd!.split(','),
  transport,
  observer: {
    storeCall: ({ command }) => {
      if (command === 'Prewrite') silent = true;
    },
  },
});
const txn = await client.begin();
txn.put(bytes('pm/a'), bytes('1'));
txn.put(bytes('pm/z'), bytes('1'));
void txn.commit({ mode: mode === 'async' ? 'async' : '2pc', timeoutMs: 60_000 });
while (!silent) await new Promise((resolve) => setTimeout(resolve, 5));
console.log('locked');
setInterval(() => {}, 1_000);
