import type { TraceContext } from '../trace-context.ts';
import type { Span, SpanAttributes, SpanKind, TracedCall, Tracer } from '../tracer.ts';

/** What became of one call, or of a part of one. */
export interface RecordedSpan {
  /** Of a call its method. */
  readonly name: string;
  readonly kind: SpanKind;
  /** Only of a call. */
  readonly from?: TracedCall['from'] | undefined;
  readonly parent: TraceContext | undefined;
  readonly context: TraceContext;
  readonly attributes: Record<string, SpanAttributes[string]>;
  readonly stages: string[];
  readonly stagesMs: (number | undefined)[];
  /** How often it ended; once is right. */
  ends: number;
  /** With which it ended; undefined: with success, or it has not ended. */
  error: unknown;
}

/** Keeps all that it is told. Its ids count up. */
export class RecordingTracer implements Tracer {
  /** In the order of their beginnings. */
  readonly spans: RecordedSpan[] = [];
  /** Whether calls are recorded. */
  samples = true;

  wants(): boolean {
    return this.samples;
  }

  begin({ method, from, parent }: TracedCall): Span {
    return this.#span(method, 'server', parent, {}, from);
  }

  /** The names as a tree of one trace, one line a span, each level two spaces deeper than its parent. */
  tree(traceId: string): string[] {
    const lines: string[] = [];
    const add = (of: RecordedSpan, depth: number): void => {
      lines.push(`${'  '.repeat(depth)}${of.name}`);
      for (const one of inTrace) if (one.parent?.spanId === of.context.spanId) add(one, depth + 1);
    };
    const inTrace = this.spans.filter(({ context }) => context.traceId === traceId);
    const ids = new Set(inTrace.map(({ context }) => context.spanId));
    for (const one of inTrace) if (one.parent === undefined || !ids.has(one.parent.spanId)) add(one, 0);
    return lines;
  }

  #span(
    name: string,
    kind: SpanKind,
    parent: TraceContext | undefined,
    attributes: SpanAttributes,
    from?: TracedCall['from'],
  ): Span {
    const id = (this.spans.length + 1).toString(16);
    const context = { traceId: parent?.traceId ?? id.padStart(32, '0'), spanId: id.padStart(16, '0'), flags: 1 };
    const facts = { name, kind, from, parent, context, attributes: { ...attributes } };
    const span: RecordedSpan = { ...facts, stages: [], stagesMs: [], ends: 0, error: undefined };
    const children: { readonly record: RecordedSpan; readonly span: Span }[] = [];
    this.spans.push(span);
    return {
      context,
      set: (more) => void Object.assign(span.attributes, more),
      stage: (stage, atMs) => {
        span.stages.push(stage);
        span.stagesMs.push(atMs);
      },
      child: (childName, childAttributes = {}, childKind = 'internal') => {
        const made = this.#span(childName, childKind, context, childAttributes);
        children.push({ record: this.spans.at(-1)!, span: made });
        return made;
      },
      end: (error) => {
        for (const { record, span: child } of children) if (record.ends === 0) child.end(error);
        span.ends += 1;
        if (span.ends === 1) span.error = error;
      },
    };
  }
}
