import type { TraceContext } from '../trace-context.ts';
import type { Span, TracedCall, Tracer } from '../tracer.ts';

/** What became of one call. */
export interface RecordedSpan extends TracedCall {
  readonly context: TraceContext;
  readonly stages: string[];
  /** How often it ended; once is right. */
  ends: number;
  /** With which it ended; undefined: with success, or it has not ended. */
  error: unknown;
}

/** Keeps all that it is told. Its ids count up. */
export class RecordingTracer implements Tracer {
  readonly spans: RecordedSpan[] = [];
  /** Whether calls are recorded. */
  samples = true;

  begin(call: TracedCall): Span | undefined {
    if (!this.samples) return undefined;
    const id = (this.spans.length + 1).toString(16);
    const traceId = call.parent?.traceId ?? id.padStart(32, '0');
    const context = { traceId, spanId: id.padStart(16, '0'), flags: 1 };
    const span: RecordedSpan = { ...call, context, stages: [], ends: 0, error: undefined };
    this.spans.push(span);
    return {
      context,
      stage: (name) => void span.stages.push(name),
      end: (error) => {
        span.ends += 1;
        span.error = error;
      },
    };
  }
}
