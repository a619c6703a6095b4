import type { Credential } from '../users/credentials.ts';
import type { Clients } from './clients.ts';
import type { Face } from './face.ts';
import type { Served } from './served.ts';

/** The node that gets the request, and the request's name in the story. */
export interface Asking {
  readonly world: Clients;
  readonly life: Served;
  readonly face: Face;
  readonly name: string;
  /** Undefined: clients have no users. */
  readonly credential: Credential | undefined;
}

export function grantLease({ world, life, face, name, credential }: Asking, wanted: bigint, ttlSeconds: number): void {
  const { judge } = world;
  world.calls.start({
    what: `${name} grant lease ${wanted} for ${ttlSeconds} s`,
    life,
    credential,
    need: { kind: 'user' },
    explains: ({ mark }) => mark?.kind === 'lease-grant' && (wanted === 0n ? mark.id > 1000n : mark.id === wanted),
    send: (signal) => face.leaseGrant(wanted, ttlSeconds, signal),
    answered: (call, { id, grantedTtlSeconds }) => {
      judge.leaseGranted(call, id, grantedTtlSeconds);
      judge.leases.answered(id, world.history.next, world.nowMs);
    },
    refused: (call, code) => {
      if (code === 'NoSpace' || code === 'Corrupt') judge.refusedByAlarm(call, code);
      else if (code !== 'TooManyRequests') judge.leaseSeen(call, wanted, true, code);
    },
    text: ({ id }) => `lease ${id}`,
  });
}

export function revokeLease({ world, life, face, name, credential }: Asking, id: bigint): void {
  const { judge } = world;
  world.calls.start({
    what: `${name} revoke lease ${id}`,
    life,
    credential,
    need: { kind: 'lease', id, what: 'write' },
    decidedAt: (_: number, { from }) => {
      const ends = world.history.writes.filter(
        ({ position, mark }) => position >= from && mark?.kind === 'lease-revoke' && mark.id === id,
      );
      return ends.length === 1 ? ends[0]!.position : undefined;
    },
    explains: ({ mark }) => mark?.kind === 'lease-revoke' && mark.id === id,
    send: (signal) => face.leaseRevoke(id, signal),
    answered: (call, revision) => judge.leaseRevoked(call, id, revision),
    refused: (call, code) => {
      if (code === 'Corrupt') judge.refusedByAlarm(call, code);
      else if (code !== 'TooManyRequests') judge.leaseSeen(call, id, false, code);
    },
    unknown: (call) => judge.revokes.unknown(call, id),
    text: (revision) => `revision ${revision}`,
  });
}

/** A member waits 50 ms, by its own clock, before it sends a call again. An earlier answer is that of the only copy. */
const REPEATED_MS_MIN = 40;

export function keepAlive({ world, life, face, name, credential }: Asking, id: bigint): void {
  const { judge, history } = world;
  const ended = judge.leases.renewing(id);
  world.calls.start({
    what: `${name} keep lease ${id} alive`,
    life,
    credential,
    need: { kind: 'lease', id, what: 'write' },
    denied: ended,
    send: (signal) => face.keepAlive(id, signal),
    answered: (call, ttlSeconds) => {
      ended();
      const copiesMs = world.nowMs - call.startMs < REPEATED_MS_MIN ? 0 : world.forwardedMsMax;
      if (ttlSeconds > 0) judge.leaseRenewed(call, id, ttlSeconds, world.nowMs, copiesMs);
      else judge.leaseSeen(call, id, false, '0 s');
    },
    refused: (call, code) => {
      ended();
      if (code !== 'TooManyRequests') judge.leaseSeen(call, id, false, code);
    },
    unknown: () => {
      ended();
      judge.leases.maybeRenewed(id, history.next, world.nowMs + world.forwardedMsMax);
    },
    text: (ttlSeconds) => `${ttlSeconds} s`,
  });
}

export function timeToLive({ world, life, face, name, credential }: Asking, id: bigint, withKeys: boolean): void {
  const { judge } = world;
  world.calls.start({
    what: `${name} time to live of lease ${id}`,
    life,
    credential,
    need: withKeys ? { kind: 'lease', id, what: 'read' } : { kind: 'user' },
    send: (signal) => face.timeToLive(id, withKeys, signal),
    answered: (call, lease) => {
      if (lease === undefined) judge.leaseSeen(call, id, false, 'no lease');
      else {
        const { grantedTtlSeconds, remainingSeconds, keys } = lease;
        judge.timeToLive(call, id, grantedTtlSeconds, remainingSeconds, [...keys], world.nowMs);
      }
    },
    refused: (call, code) => judge.leaseSeen(call, id, false, code),
    text: (lease) => (lease === undefined ? 'none' : `${lease.remainingSeconds} s left`),
  });
}
