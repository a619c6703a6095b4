import { Loop, StepPace } from '@engram/loop';
import { SimClock } from '@engram/sim';
import { expect, test } from 'vitest';
import { MetricRegistry } from '@engram/telemetry';

test.each(['prometheus', 'openmetrics'] as const)(
  'a metric of many lines is formatted in slices: %s',
  async (format) => {
    const registryOn = (loop?: Loop): MetricRegistry => {
      const registry = new MetricRegistry(loop);
      const labels = Array.from({ length: 1_000 }, (_, at) => ({ method: `m${at}` }));
      registry.counter('many_total', 'Has "many" lines,\nof which each is one.', () =>
        labels.map((of, value) => ({ labels: of, value })),
      );
      registry.gauge('none', 'Has no line.', () => []);
      registry.gauge('many', 'Has many lines.', () => labels.map((of, value) => ({ labels: of, value })));
      registry.histograms('seconds', 'Has many lines.', () =>
        labels.map((of) => ({
          labels: of,
          bounds: Float64Array.of(1),
          counts: Float64Array.of(2, 3),
          sum: 4,
          exemplars: [],
        })),
      );
      return registry;
    };
    const loop = new Loop({ clock: new SimClock(), pace: new StepPace(100) });
    const { text } = await registryOn(loop).render(format);
    expect(text).toBe((await registryOn().render(format)).text);
    expect(text.split('\n').filter((line) => line.startsWith('# HELP'))).toHaveLength(4);
    expect(text.split('\n').filter((line) => /^(?:many|seconds)/.test(line))).toHaveLength(6_000);
    // Of 60 slices, none has much more than 100 lines.
    expect(loop.usage.get('background')!.slices).toBeGreaterThanOrEqual(50);
  },
);
