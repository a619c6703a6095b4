const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/** Reads a `Grpc-Timeout` as grpc-gateway does (runtime/context.go: timeoutDecode). Undefined if it is none. */
export function timeoutMsOf(text: string): number | undefined {
  const [, digits, unit] = /^([+-]?\d{1,18})([HMSmun])$/.exec(text) ?? [];
  return unit === undefined ? undefined : Number(digits) * unitMs[unit]!;
}
