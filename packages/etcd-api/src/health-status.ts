/** Whether the member takes calls, as grpc.health.v1.Health reports it. Serving from the start. */
export class HealthStatus {
  #serving = true;
  readonly #listeners = new Set<(serving: boolean) => void>();

  get serving(): boolean {
    return this.#serving;
  }

  set(serving: boolean): void {
    if (serving === this.#serving) return;
    this.#serving = serving;
    for (const listener of this.#listeners) listener(serving);
  }

  /** Calls `listener` at every change. The returned function ends that. */
  subscribe(listener: (serving: boolean) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}
