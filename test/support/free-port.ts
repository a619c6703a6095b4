import { randomInt } from 'node:crypto';
import { createServer } from 'node:net';

/**
 * Where ports for servers of tests lie: below the range from which the kernel gives ports to clients (32768 to 60999 on
 * Linux). A port of that range that is free now may belong to any connection of the machine when the server binds it.
 */
const FIRST = 5000;
const END = 15_000;

/** Those of the range to which no `fetch` connects (WHATWG Fetch, 2.9: bad ports). */
const BAD: ReadonlySet<number> = new Set([5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697, 10_080]);

let next = randomInt(FIRST, END);

const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });

/**
 * A port of the loopback interface that was free a moment ago. One process gets each port once, until it has asked for
 * all; another process may still take the port before it is used, if it binds a port of its choice.
 */
export async function freePort(): Promise<number> {
  for (let attempt = FIRST; attempt < END; attempt += 1) {
    const port = next;
    next = port + 1 === END ? FIRST : port + 1;
    if (!BAD.has(port) && (await isFree(port))) return port;
  }
  throw new Error(`no free port between ${FIRST} and ${END}`);
}

export const freePorts = async (count: number): Promise<readonly number[]> => {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
};
