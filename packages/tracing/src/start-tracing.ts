import { type Clock, type Logger, type Random, sleep, type Tracer } from '@engram/core';
import {
  type Context,
  context,
  type ContextManager,
  diag,
  DiagLogLevel,
  logs,
  ROOT_CONTEXT,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-grpc';
import { envDetector, resourceFromAttributes } from '@opentelemetry/resources';
import { NodeSDK, type NodeSDKConfiguration } from '@opentelemetry/sdk-node';
import { AlwaysOnSampler } from '@opentelemetry/sdk-trace';
import { OtelTracer } from './otel-tracer.ts';

export interface TracingOptions {
  /** Where the collector takes OTLP over gRPC in plain text: host and port. Undefined: what OTEL_ variables say. */
  readonly address: string | undefined;
  /** Undefined: OTEL_SERVICE_NAME. */
  readonly serviceName: string | undefined;
  /** service.instance.id of the resource; empty: none. */
  readonly instanceId: string;
  readonly version: string;
  /** Undefined: what OTEL_TRACES_SAMPLER says. */
  readonly samplingPerMillion: number | undefined;
  /** Calls of clients that are recorded in a second at most. 0: no bound. */
  readonly callsPerSecondMax: number;
  /** Whether OTEL_NODE_RESOURCE_DETECTORS says what is told of the machine. Otherwise nothing is. */
  readonly resourceDetectors: boolean;
  /** Whole keys are recorded. Otherwise their first two segments are. */
  readonly recordKeys: boolean;
  /** How long a stop waits for the collector. By default a second. */
  readonly stopMs?: number;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
}

/** Disposal sends what is recorded, for a second at most. */
export interface RunningTracing extends AsyncDisposable {
  readonly tracer: Tracer;
}

const NAME = 'engram';
const STOP_MS = 1000;

/** One at a time in a process: the library keeps one provider for it. */
export function startTracing(options: TracingOptions): RunningTracing {
  const { clock, logger, stopMs = STOP_MS } = options;
  diag.setLogger(diagnosticsTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });
  const sdk = new NodeSDK(sdkConfiguration(options));
  sdk.start();
  const { samplingPerMillion, callsPerSecondMax, recordKeys, random } = options;
  const tracer = trace.getTracer(NAME, options.version);
  return {
    tracer: new OtelTracer({ tracer, samplingPerMillion, callsPerSecondMax, recordKeys, clock, random, logger }),
    [Symbol.asyncDispose]: async () => {
      const done = new AbortController();
      const late = async (): Promise<void> => {
        await sleep(clock, stopMs, done.signal);
        throw new Error('the collector does not answer');
      };
      try {
        await Promise.race([sdk.shutdown(), late()]);
      } catch (error) {
        logger.warn({ err: error }, 'the last traces were not sent');
      } finally {
        done.abort();
        trace.disable();
        logs.disable();
        context.disable();
        diag.disable();
      }
    },
  };
}

function sdkConfiguration(options: TracingOptions): Partial<NodeSDKConfiguration> {
  const { address, serviceName, instanceId, version, samplingPerMillion } = options;
  return {
    resource: resourceFromAttributes({
      'service.version': version,
      ...(instanceId === '' ? undefined : { 'service.instance.id': instanceId }),
    }),
    ...(serviceName === undefined ? undefined : { serviceName }),
    // The host and its processes are not told unless OTEL_NODE_RESOURCE_DETECTORS asks for it.
    ...(options.resourceDetectors ? undefined : { resourceDetectors: [envDetector] }),
    // Contexts are passed by hand, and nothing is patched.
    contextManager: new PassedByHand(),
    textMapPropagator: null,
    instrumentations: [],
    metricReaders: [],
    logRecordProcessors: [],
    // Who is recorded was decided before the library is asked.
    ...(samplingPerMillion === undefined ? undefined : { sampler: new AlwaysOnSampler() }),
    ...(address === undefined ? undefined : { traceExporter: new OTLPTraceExporter({ url: `http://${address}` }) }),
  };
}

/** Knows no context but the outermost one, so that it costs no promise anything. */
class PassedByHand implements ContextManager {
  active(): Context {
    return ROOT_CONTEXT;
  }

  with<Args extends unknown[], Work extends (...args: Args) => ReturnType<Work>>(
    _context: Context,
    work: Work,
    thisArg?: ThisParameterType<Work>,
    ...args: Args
  ): ReturnType<Work> {
    return Reflect.apply(work, thisArg, args);
  }

  bind<Work>(_context: Context, target: Work): Work {
    return target;
  }

  enable(): this {
    return this;
  }

  disable(): this {
    return this;
  }
}

/**
 * What the library has to say, such as a collector that is not there. Nobody else is disturbed by it. Its texts have times in
 * them, so they are fields: lines are bounded by their message.
 */
function diagnosticsTo(logger: Logger): Parameters<typeof diag.setLogger>[0] {
  const warn = (...texts: unknown[]): void =>
    logger.warn({ why: texts.map(String).join(' ') }, 'calls cannot be traced');
  const nothing = (): void => {};
  return { error: warn, warn, info: nothing, debug: nothing, verbose: nothing };
}
