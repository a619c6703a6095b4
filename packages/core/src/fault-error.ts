/** An error that its catchers tell by a fault of a closed list. A subclass says what has failed, and names the faults. */
export abstract class FaultError<Fault extends string> extends Error {
  readonly fault: Fault;

  constructor(fault: Fault, message: string, options?: ErrorOptions) {
    super(message, options);
    this.fault = fault;
  }
}
