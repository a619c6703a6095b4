import type { Socket } from 'node:net';
import type { Clock } from '@engram/core';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
/** No method of HTTP/1.1 starts like this, so nothing longer has to arrive before the decision. */
const decisiveBytes = 4;

export type Protocol = 'h2' | 'http1';

/** What the first bytes of a connection speak; undefined while too few have come. */
export function protocolOf(head: Uint8Array): Protocol | undefined {
  const common = Math.min(head.length, decisiveBytes);
  for (let at = 0; at < common; at += 1) {
    if (head[at] !== preface[at]) return 'http1';
  }
  return head.length < decisiveBytes ? undefined : 'h2';
}

/**
 * Waits for the first bytes and calls `decided` once, the socket paused and the bytes put back. A client that keeps
 * silent is cut after `patienceMs`.
 */
export function sniffProtocol(
  socket: Socket,
  clock: Clock,
  patienceMs: number,
  decided: (protocol: Protocol) => void,
): void {
  const patience = clock.after(patienceMs, () => socket.destroy());
  let head: Buffer = Buffer.alloc(0);
  const stop = (): void => {
    patience.cancel();
    socket.off('data', look);
    socket.off('end', gone);
    socket.off('close', stop);
  };
  const gone = (): void => {
    stop();
    socket.destroy();
  };
  const look = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const protocol = protocolOf(head);
    if (protocol === undefined) return;
    stop();
    socket.pause();
    socket.unshift(head);
    decided(protocol);
  };
  socket.on('data', look);
  socket.on('end', gone);
  socket.on('close', stop);
}
