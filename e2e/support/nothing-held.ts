import { setTimeout as sleep } from 'node:timers/promises';

/** The budgets that are at 0 when no call is under way. An open stream counts with its head in `request_bytes`. */
const BUDGETS = ['answer_bytes', 'log_queue_bytes'];
const BUDGETS_WITHOUT_STREAMS = [...BUDGETS, 'request_bytes'];
const WAIT_MS = 5_000;
const LOOK_MS = 50;
const ANSWER_MAX_MS = 30_000;

/**
 * What the store at this endpoint (host:port) still holds when all calls have ended: pins of old versions, and memory of
 * requests and answers. Empty if nothing. A call ends a moment after its client has the answer, so this looks again for a
 * while. Also empty for a store without these metrics. Rejects where the metrics do not come.
 */
export async function stillHeld(endpoint: string): Promise<readonly string[]> {
  for (const untilMs = performance.now() + WAIT_MS; ; ) {
    const answer = await fetch(`http://${endpoint}/metrics`, { signal: AbortSignal.timeout(ANSWER_MAX_MS) });
    const held = heldIn(await answer.text());
    if (held.length === 0 || performance.now() > untilMs) return held;
    await sleep(LOOK_MS);
  }
}

function heldIn(metrics: string): readonly string[] {
  const used = new Map(
    [...metrics.matchAll(/^engram_budget_used\{resource="(.*?)"\} (.*)$/gm)].map(([, name = '', value]) => [
      name,
      Number(value),
    ]),
  );
  const budgets = used.get('streams') === 0 ? BUDGETS_WITHOUT_STREAMS : BUDGETS;
  const held = budgets.filter((name) => (used.get(name) ?? 0) !== 0).map((name) => `${name}: ${used.get(name)}`);
  const pins = Number(/^engram_read_pins (.*)$/m.exec(metrics)?.[1] ?? 0);
  return pins === 0 ? held : [...held, `pins: ${pins}`];
}
