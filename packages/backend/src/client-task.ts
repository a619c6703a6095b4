import type { Task } from '@engram/loop';
import { type Caller, clientOf } from './caller.ts';

/** What a client waits for, in its own part of the loop's time. */
export function clientTask(caller: Caller, stage: string): Task {
  const { method } = caller;
  const task = { work: 'client', caller: clientOf(caller), stage } as const;
  return method === undefined ? task : { ...task, method };
}
