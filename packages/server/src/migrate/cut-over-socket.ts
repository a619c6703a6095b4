import { chmodSync, rmSync } from 'node:fs';
import { createConnection, createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { ConfigError } from '../flags/flag-values.ts';
import { ownFolder } from '../start/data-directory.ts';

/** What an operator's command gets. */
export interface CutOverAnswer {
  readonly done: boolean;
  /** One line. */
  readonly text: string;
}

const REQUEST = 'cut-over\n';
const ANSWER_BYTES_MAX = 64 << 10;
/** A command is there at once. */
const REQUEST_MAX_MS = 5000;
/** The lists of leases of both stores are read, and each TTL is compared. */
const ANSWER_MAX_MS = 600_000;
const CONNECTIONS_MAX = 4;
/** What a path of a socket may have (sockaddr_un), with the zero behind it. */
const PATH_BYTES_MAX = 107;

/** Throws ConfigError if the data directory has so long a path that no socket fits in it. */
export function cutOverSocketOf(dataDir: string): string {
  const path = join(ownFolder(dataDir), 'cut-over.sock');
  if (Buffer.byteLength(path) <= PATH_BYTES_MAX) return path;
  throw new ConfigError(`--data-dir: the path of the socket ${path} has more than ${PATH_BYTES_MAX} bytes`);
}

/** Whoever may write to the data directory may ask for the cut-over, by this socket in it. */
export class CutOverSocket implements AsyncDisposable {
  readonly #server: Server;
  readonly #path: string;
  readonly #sockets: ReadonlySet<Socket>;

  private constructor(server: Server, path: string, sockets: ReadonlySet<Socket>) {
    this.#server = server;
    this.#path = path;
    this.#sockets = sockets;
  }

  /** The caller holds the data directory's lock: a socket that is there is left over. `cutOver` never rejects. */
  static async listen(dataDir: string, cutOver: () => Promise<CutOverAnswer>): Promise<CutOverSocket> {
    const path = cutOverSocketOf(dataDir);
    rmSync(path, { force: true });
    const sockets = new Set<Socket>();
    const server = createServer((socket) => {
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      serve(socket, cutOver);
    });
    server.maxConnections = CONNECTIONS_MAX;
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject);
      server.listen(path, resolve);
    });
    chmodSync(path, 0o600);
    return new CutOverSocket(server, path, sockets);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
    rmSync(this.#path, { force: true });
  }
}

function serve(socket: Socket, cutOver: () => Promise<CutOverAnswer>): void {
  let asked = '';
  socket.on('error', () => {});
  socket.setTimeout(REQUEST_MAX_MS, () => socket.destroy());
  socket.setEncoding('latin1');
  socket.on('data', (part: string) => {
    asked += part;
    if (!REQUEST.startsWith(asked)) socket.destroy();
    if (asked !== REQUEST) return;
    socket.setTimeout(0);
    void cutOver().then((answer) => socket.end(`${JSON.stringify(answer)}\n`));
  });
}

/** Asks the process that follows for the cut-over. Rejects with ConfigError if none does, or it does not answer: then it is unknown. */
export async function askForCutOver(dataDir: string): Promise<CutOverAnswer> {
  const path = cutOverSocketOf(dataDir);
  let isAsked = false;
  const answer = await new Promise<string>((resolve, reject) => {
    let text = '';
    const socket = createConnection(path, () => {
      isAsked = true;
      socket.write(REQUEST);
    });
    socket.setEncoding('utf8');
    socket.setTimeout(ANSWER_MAX_MS, () => socket.destroy(new Error(`no answer within ${ANSWER_MAX_MS} ms`)));
    socket.on('data', (part: string) => {
      text += part;
      if (text.length > ANSWER_BYTES_MAX) socket.destroy(new Error('an answer without end'));
    });
    socket.on('end', () => resolve(text));
    socket.on('error', reject);
  }).catch((cause: unknown) => {
    const why = cause instanceof Error ? cause.message : String(cause);
    if (isAsked) throw new ConfigError(`${unknown(dataDir)}: ${why}`, { cause });
    throw new ConfigError(`no store that follows an etcd runs on ${dataDir}: ${why}`, { cause });
  });
  return parseAnswer(answer, dataDir);
}

const unknown = (dataDir: string): string =>
  `it is unknown whether the store of ${dataDir} takes writes: ask engram health, or ask again`;

function parseAnswer(text: string, dataDir: string): CutOverAnswer {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null) {
      const { done, text: said }: Record<string, unknown> = { ...value };
      if (typeof done === 'boolean' && typeof said === 'string') return { done, text: said };
    }
  } catch {
    // Said below.
  }
  throw new ConfigError(`${unknown(dataDir)}: its process has ended without an answer`);
}
