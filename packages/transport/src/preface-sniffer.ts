import type { Socket } from 'node:net';
import type { Clock } from '@engram/core';
import type { Ends } from './ends.ts';

const preface = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'latin1');
/** No method of HTTP/1.1 starts with these bytes, so four bytes are enough to decide. */
const decisiveBytes = 4;

export type Protocol = 'h2' | 'http1';

/** The protocol of a connection with these first bytes; undefined while there are too few. */
export function protocolOf(head: Uint8Array): Protocol | undefined {
  const common = Math.min(head.length, decisiveBytes);
  for (let at = 0; at < common; at += 1) {
    if (head[at] !== preface[at]) return 'http1';
  }
  return head.length < decisiveBytes ? undefined : 'h2';
}

/**
 * Waits for the first bytes and calls `decided` once, with the socket paused and the bytes put back. A client that
 * sends nothing is disconnected after `timeoutMs`.
 */
export function sniffProtocol(
  socket: Socket,
  clock: Clock,
  timeoutMs: number,
  ends: Ends,
  decided: (protocol: Protocol) => void,
): void {
  let waits = true;
  const timer = clock.after(timeoutMs, () =>
    ends.later(() => {
      if (waits) socket.destroy();
    }),
  );
  let head: Buffer = Buffer.alloc(0);
  const stop = (): void => {
    waits = false;
    timer.cancel();
    socket.off('data', look);
    socket.off('end', gone);
    socket.off('close', stop);
  };
  const gone = (): void => {
    stop();
    ends.later(() => socket.destroy());
  };
  const look = (chunk: Buffer): void => {
    head = head.length === 0 ? chunk : Buffer.concat([head, chunk]);
    const protocol = protocolOf(head);
    if (protocol === undefined) return;
    stop();
    socket.allowHalfOpen = false;
    socket.pause();
    socket.unshift(head);
    decided(protocol);
  };
  // Otherwise node destroys the socket when its client ends, at once.
  socket.allowHalfOpen = true;
  socket.on('data', look);
  socket.on('end', gone);
  socket.on('close', stop);
}
