/** The cores that this process uses: CPU seconds a second. */
export class CoreCount {
  #sinceMs = performance.now();
  #cpuMs = CoreCount.cpuMs();

  static cpuMs(): number {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1000;
  }

  /** Counts from now on. */
  begin(): void {
    this.#sinceMs = performance.now();
    this.#cpuMs = CoreCount.cpuMs();
  }

  get cores(): number {
    return (CoreCount.cpuMs() - this.#cpuMs) / (performance.now() - this.#sinceMs);
  }
}
