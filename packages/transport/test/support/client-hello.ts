import { once } from 'node:events';
import { duplexPair } from 'node:stream';
import { connect } from 'node:tls';

/** The first message of a handshake, as OpenSSL sends it: a server signs for it, and the client has computed nothing. */
export async function clientHello(): Promise<Buffer> {
  const [near, far] = duplexPair();
  const socket = connect({ socket: near, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  const [hello] = (await once(far, 'data')) as [Buffer];
  socket.destroy();
  return hello;
}
