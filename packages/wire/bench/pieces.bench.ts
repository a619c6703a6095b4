/**
 * Measures from which size on a value is better sent as a piece of its own than copied into one buffer. Pieces go to a
 * socket with one writev; the reader discards everything.
 */
import { createServer, connect, type Socket } from 'node:net';
import { once } from 'node:events';

const total = process.env['BENCH'] === 'smoke' ? 64 * 1024 : 512 * 1024 * 1024;
const messageBytes = 256 * 1024;

const server = createServer((socket) => socket.resume());
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const address = server.address();
if (address === null || typeof address === 'string') throw new Error('no port');
const socket = connect(address.port, '127.0.0.1');
await once(socket, 'connect');

async function flushed(of: Socket): Promise<void> {
  if (of.writableLength > 1024 * 1024) await once(of, 'drain');
}

async function run(valueBytes: number, copy: boolean): Promise<number> {
  const value = new Uint8Array(valueBytes).fill(1);
  const head = new Uint8Array(8);
  const values = Math.max(1, Math.floor(messageBytes / valueBytes));
  const messages = Math.max(1, Math.floor(total / (values * valueBytes)));
  const cpu = process.cpuUsage();
  for (let message = 0; message < messages; message += 1) {
    if (copy) {
      const whole = Buffer.allocUnsafe(values * (valueBytes + head.length));
      let at = 0;
      for (let one = 0; one < values; one += 1) {
        whole.set(head, at);
        whole.set(value, at + head.length);
        at += head.length + valueBytes;
      }
      socket.write(whole);
    } else {
      socket.cork();
      for (let one = 0; one < values; one += 1) {
        socket.write(head);
        socket.write(value);
      }
      socket.uncork();
    }
    await flushed(socket);
  }
  const { user, system } = process.cpuUsage(cpu);
  return ((user + system) * 1000) / (messages * values);
}

for (const valueBytes of [512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536]) {
  await run(valueBytes, true);
  const copied = await run(valueBytes, true);
  const piece = await run(valueBytes, false);
  console.log(`${valueBytes} bytes: copied ${copied.toFixed(0)} ns of CPU, a piece ${piece.toFixed(0)} ns`);
}
socket.destroy();
server.close();
