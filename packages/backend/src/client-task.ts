import type { Task } from '@engram/loop';
import type { Caller } from './caller.ts';

/** What a client waits for, in its own part of the loop's time. */
export const clientTask = ({ client = 'node', method }: Caller, stage: string): Task => ({
  work: 'client',
  caller: client,
  stage,
  method,
});
