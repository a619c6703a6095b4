import type { ClientBudgets, Clock, Logger } from '@engram/core';
import type { Loop, LoopWatch } from '@engram/loop';
import type { Ends } from '../ends.ts';
import type { KeepaliveOptions } from '../serve-options.ts';
import type { Leads } from './lead.ts';
import type { SenderCommons } from './sender.ts';
import type { StreamHost } from './stream-host.ts';

/** What the connections of one server share. */
export interface ConnectionServer extends SenderCommons {
  readonly clock: Clock;
  readonly logger: Logger;
  readonly keepalive: KeepaliveOptions;
  readonly messageMaxBytes: number;
  readonly streamsMax: number;
  readonly handshakeMs: number;
  readonly budgets: ClientBudgets;
  readonly watch: LoopWatch;
  readonly loop: Loop;
  readonly ends: Ends;
  /** Called for each new connection. */
  leads(host: StreamHost): Leads;
}
