import {
  detectResources,
  envDetector,
  hostDetector,
  osDetector,
  processDetector,
  type Resource,
  type ResourceDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';

/** Who sends, as the traces of the same member say it. */
export interface Sender {
  /** Undefined: OTEL_SERVICE_NAME. */
  readonly serviceName: string | undefined;
  readonly instanceId: string;
  readonly version: string;
  /** What OTEL_NODE_RESOURCE_DETECTORS says; empty: the host and its processes are not told. */
  readonly resourceDetectors: string;
}

/** By their names in OTEL_NODE_RESOURCE_DETECTORS. */
const detectors: Readonly<Record<string, ResourceDetector>> = {
  env: envDetector,
  host: hostDetector,
  os: osDetector,
  process: processDetector,
  serviceinstance: serviceInstanceIdDetector,
};

export function resourceOf({ serviceName, instanceId, version, resourceDetectors }: Sender): Resource {
  const own = resourceFromAttributes({
    'service.version': version,
    ...(instanceId === '' ? undefined : { 'service.instance.id': instanceId }),
  });
  const detected = own.merge(detectResources({ detectors: detectorsOf(resourceDetectors) }));
  return serviceName === undefined ? detected : detected.merge(resourceFromAttributes({ 'service.name': serviceName }));
}

function detectorsOf(list: string): ResourceDetector[] {
  const names = list.split(',').map((name) => name.trim());
  if (list === '') return [envDetector];
  if (names.includes('all')) return Object.values(detectors);
  if (names.includes('none')) return [];
  return names.flatMap((name) => detectors[name] ?? []);
}
