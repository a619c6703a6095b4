/** The strictest server of the protocol would refuse a request, or end its process. The message names request and field. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Throws Refusal unless `holds`. */
export function need(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refusal(reason);
}
