import { setTimeout as delay } from 'node:timers/promises';

/** The store under attack, as an attack sees it. */
export interface Target {
  readonly port: number;
  /** The port of a TLS listener, for attacks that need one. */
  readonly securePort: number;
  /** How long a client waits for an answer that may never come. */
  readonly patienceMs: number;
}

export interface Attack {
  readonly name: string;
  readonly what: string;
  /** The number of keys of 1 KiB that the store must have before the attack. */
  readonly keys?: number;
  readonly descriptors?: number;
  run(target: Target): Promise<void>;
}

/** What the machine itself makes a modest client wait. */
export const noAttack = {
  name: 'none',
  what: 'nothing, for 5 s',
  run: () => delay(5_000),
} as const;
