/** Why the strictest server of the protocol would refuse a request, or end itself over it. The reason names request and field. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
}

/** Stops the request unless `holds`. */
export function need(holds: boolean, reason: string): asserts holds {
  if (!holds) throw new Refusal(reason);
}
