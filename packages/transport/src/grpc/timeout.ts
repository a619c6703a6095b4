import { quoted } from './echoed.ts';

const unitMs: Readonly<Record<string, number>> = {
  H: 3_600_000,
  M: 60_000,
  S: 1_000,
  m: 1,
  u: 1e-3,
  n: 1e-6,
};

/** 8 digits and a unit (gRPC over HTTP/2, Timeout). */
const textMax = 9;

export type Timeout = { readonly ms: number } | { readonly fault: string };

/** Reads `grpc-timeout`; the faults are grpc-go's texts. */
export function parseTimeout(text: string): Timeout {
  if (text.length < 2)
    return { fault: `malformed grpc-timeout: transport: timeout string is too short: ${quoted(text)}` };
  if (text.length > textMax)
    return { fault: `malformed grpc-timeout: transport: timeout string is too long: ${quoted(text)}` };
  const unit = unitMs[text[text.length - 1]!];
  if (unit === undefined)
    return { fault: `malformed grpc-timeout: transport: timeout unit is not recognized: ${quoted(text)}` };
  const digits = text.slice(0, -1);
  if (!/^\d+$/.test(digits)) {
    return { fault: `malformed grpc-timeout: strconv.ParseUint: parsing ${quoted(digits)}: invalid syntax` };
  }
  return { ms: Number(digits) * unit };
}
