import { GrpcCode } from '@engram/core';
import { healthpb, type Message, type Method, StatusError, type StreamCall, type StreamHandler } from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { HealthStatus } from './health-status.ts';

const SERVICE = '/grpc.health.v1.Health';
const { SERVING, NOT_SERVING, SERVICE_UNKNOWN } = healthpb.HealthCheckResponseServingStatus;

/**
 * The standard health service (grpc/grpc doc/health-checking.md). It knows one service: the empty name, which stands
 * for all.
 */
export function healthMethods(
  health: HealthStatus | undefined,
  admission: CallAdmission,
): readonly (readonly [string, Method])[] {
  const status = health ?? new HealthStatus();
  return [
    [`${SERVICE}/Check`, admission.unary((request) => check(status, request))],
    [`${SERVICE}/List`, admission.unary(() => list(status))],
    [`${SERVICE}/Watch`, admission.serverStream((request, call) => new HealthWatch(status, request, call))],
  ];
}

const numberOf = (serving: boolean): number => (serving ? SERVING : NOT_SERVING);
const response = (status: number): Message => healthpb.encodeHealthCheckResponse({ status });

function check(health: HealthStatus, request: Uint8Array): Message {
  if (healthpb.decodeHealthCheckRequest(request).service !== '') {
    throw new StatusError(GrpcCode.NOT_FOUND, 'unknown service');
  }
  return response(numberOf(health.serving));
}

function list(health: HealthStatus): Message {
  return healthpb.encodeHealthListResponse({ statuses: [{ key: '', value: { status: numberOf(health.serving) } }] });
}

class HealthWatch implements StreamHandler {
  readonly #unsubscribe: () => void;

  constructor(health: HealthStatus, request: Uint8Array, call: StreamCall) {
    const known = healthpb.decodeHealthCheckRequest(request).service === '';
    call.send(response(known ? numberOf(health.serving) : SERVICE_UNKNOWN));
    this.#unsubscribe = known ? health.subscribe((serving) => call.send(response(numberOf(serving)))) : () => {};
  }

  message(): void {}

  halfClosed(): void {}

  drained(): void {}

  closed(): void {
    this.#unsubscribe();
  }
}
