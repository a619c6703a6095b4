import { FORMATS, type ToolJudge } from './judge.ts';
import { keysOfLease } from './kv-calls.ts';
import type { Shown } from './side.ts';

const type = (name: string): string => `etcdserverpb.${name}`;
/** Of leases, etcdctl writes the header alone in the format protobuf. */
const HEADER = type('ResponseHeader');
const GRANTED = /lease ([0-9a-f]{16}) granted/;

/** lease: on a store without users. */
export async function leaseCalls(judge: ToolJudge): Promise<void> {
  await judge.formats(['lease', 'list'], HEADER);
  await judge.call(['lease', 'grant', '100000'], { id: ['kept', GRANTED] });
  await judge.call(['put', 'leased', 'x', '--lease=$kept']);
  await judge.formats(['get', 'leased'], type('RangeResponse'));
  await judge.formats(['get', 'leased'], type('RangeResponse'), { flags: ['--hex'] });
  await keysOfLease(judge);
  await judge.formats(['lease', 'grant', '100000'], HEADER);
  for (const ttl of ['0', '-1', '9999999999', 'x', '1 2']) await judge.call(['lease', 'grant', ...ttl.split(' ')]);
  await judge.formats(['lease', 'timetolive', '$kept'], HEADER);
  await judge.formats(['lease', 'timetolive', '$kept', '--keys'], HEADER);
  await judge.formats(['lease', 'timetolive', '7f'], HEADER);
  await judge.call(['lease', 'timetolive']);
  await judge.call(['lease', 'timetolive', 'xyz']);
  await judge.formats(['lease', 'keep-alive', '$kept', '--once'], HEADER);
  await judge.call(['lease', 'keep-alive', '7f', '--once']);
  await judge.call(['lease', 'keep-alive', '7f']);
  await judge.call(['lease', 'keep-alive']);
  await judge.formats(['lease', 'list'], HEADER);
  await judge.call(['lease', 'list', 'more']);
  await judge.call(['lease', 'list', '--more']);

  await judge.call(['lease', 'grant', '3'], { id: ['short', GRANTED] });
  const renewing = judge.start(['lease', 'keep-alive', '$short']);
  await renewing.until(/keepalived/);
  await judge.call(['lease', 'revoke', '$short']);
  await renewing.ended();

  for (const format of FORMATS) {
    await judge.call(['lease', 'grant', '100000'], { id: ['gone', GRANTED] });
    await judge.call(['lease', 'revoke', '$gone'], {
      format,
      message: format === 'protobuf' ? type('LeaseRevokeResponse') : undefined,
    });
  }
  await judge.call(['lease', 'revoke', '$gone']);
  await judge.call(['lease', 'revoke', 'xyz']);
  await judge.call(['lease', 'revoke']);
  await judge.call(['lease', 'revoke', '$kept']);
  await judge.call(['get', 'leased']);
}

/**
 * elect and lock: on a store without users. Each leaves its lease, which ends 10 or 60 seconds later: no list of leases may be compared
 * from here on.
 */
export async function sessionCalls(judge: ToolJudge): Promise<void> {
  await elections(judge);
  await locks(judge);
}

async function elections(judge: ToolJudge): Promise<void> {
  const first = judge.start(['elect', 'e', 'first'], { format: 'fields' });
  await first.until(/"Value" : "first"[\s\S]*"Count"/);
  // The signal may interrupt a read, which the log of the client then tells.
  const settle = (shown: Shown): Shown => ({ ...shown, stderr: '' });
  const listening = judge.start(['elect', 'e', '--listen'], { settle });
  await listening.until(/first\n/);
  const second = judge.start(['elect', 'e', 'second']);
  await candidates(judge, 'e/', 2);
  await first.ended('SIGINT');
  await second.until(/second\n/);
  await listening.until(/second\n/);
  await second.ended('SIGINT');
  await listening.ended('SIGINT');
  await judge.call(['elect']);
  await judge.call(['elect', 'e']);
  await judge.call(['elect', 'e', 'third', '--listen']);
  await judge.call(['get', 'e/', '--prefix']);
}

async function locks(judge: ToolJudge): Promise<void> {
  const first = judge.start(['lock', 'l'], { format: 'fields' });
  await first.until(/"Count" : 1/);
  const second = judge.start(['lock', 'l', '--ttl=60']);
  await candidates(judge, 'l/', 2);
  await first.ended('SIGINT');
  await second.until(/l\/[0-9a-f]+/);
  await second.ended('SIGTERM');
  await judge.call(['lock', 'l', '--', 'sh', '-c', 'echo $ETCD_LOCK_KEY $ETCD_LOCK_REV']);
  await judge.call(['lock', 'l', '--', 'sh', '-c', 'echo failed >&2; exit 3']);
  await judge.call(['lock', 'l', '--', 'no-such-program']);
  await judge.call(['lock', 'l', '--ttl=x']);
  await judge.call(['lock']);
  await judge.call(['get', 'l/', '--prefix']);
}

/** Waits until so many stand at each store. */
async function candidates(judge: ToolJudge, prefix: string, count: number): Promise<void> {
  const watching = judge.start(['watch', prefix, '--prefix', '--rev=9']);
  await watching.until(new RegExp(`(PUT\\n${prefix}[^]*){${count}}`));
  await watching.dropped();
}
