import { SimClock } from '@engram/sim';
import { MetricRegistry, RpcMetrics } from '@engram/telemetry';
import { describe, expect, test } from 'vitest';

const PUT = '/etcdserverpb.KV/Put';
const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const span = { context: { traceId } };

const openText = async (registry: MetricRegistry): Promise<string> => (await registry.render('openmetrics')).text;

describe('OpenMetrics', () => {
  test('a counter, one that does not end in _total, a gauge, and a histogram', async () => {
    const registry = new MetricRegistry();
    registry.counter('a_total', 'A.', () => 1);
    registry.counter('etcd_server_health_success', 'Named by etcd.', () => 2);
    registry.gauge('b_total', 'A gauge\\ "so"\nnamed.', () => [{ labels: { of: 'x"\\\n' }, value: Number.NaN }]);
    registry.histogram('c_seconds', 'C.', [0.5, 1]).observe(0.7);
    const { contentType, text } = await registry.render('openmetrics');
    expect(contentType).toBe('application/openmetrics-text; version=1.0.0; charset=utf-8');
    expect(text).toBe(String.raw`# TYPE a counter
# HELP a A.
a_total 1
# TYPE etcd_server_health_success unknown
# HELP etcd_server_health_success Named by etcd.
etcd_server_health_success 2
# TYPE b_total gauge
# HELP b_total A gauge\\ \"so\"\nnamed.
b_total{of="x\"\\\n"} NaN
# TYPE c_seconds histogram
# HELP c_seconds C.
c_seconds_bucket{le="0.5"} 0
c_seconds_bucket{le="1"} 1
c_seconds_bucket{le="+Inf"} 1
c_seconds_sum 0.7
c_seconds_count 1
# EOF
`);
  });

  test('the samples have the names and values of the other format', async () => {
    const registry = new MetricRegistry();
    const put = new RpcMetrics(registry, { extensive: true, clock: new SimClock() }).hooks(PUT, 'unary');
    put.begin();
    put.end({}, { code: 0 }, 20);
    const samples = (text: string): readonly string[] =>
      text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
    const open = samples(await openText(registry));
    expect(open.length).toBeGreaterThan(50);
    expect(open).toEqual(samples((await registry.render()).text));
  });
});

describe('exemplars', () => {
  test('a bucket names the newest recorded call in it, with what it took and when', async () => {
    const registry = new MetricRegistry();
    const clock = new SimClock();
    const put = new RpcMetrics(registry, { extensive: true, clock }).hooks(PUT, 'unary');
    const older = { context: { traceId: traceId.replaceAll('4', '5') } };
    put.end({ span: older }, { code: 0 }, 20);
    clock.advance(1500);
    put.end({ span }, { code: 0 }, 21);
    put.end({}, { code: 0 }, 22);
    const at = (clock.wallMs() / 1000).toFixed(3);
    const lines = (await openText(registry)).split('\n').filter((line) => line.includes('# {'));
    const histograms = lines.map((line) => line.slice(0, line.indexOf('_bucket')));
    expect(histograms).toEqual([
      'etcd_server_apply_duration_seconds',
      'grpc_server_handling_seconds',
      'etcd_server_request_duration_seconds',
    ]);
    expect(lines[1]).toBe(
      `grpc_server_handling_seconds_bucket{grpc_type="unary",grpc_service="etcdserverpb.KV",grpc_method="Put",le="0.025"} 3 # {trace_id="${traceId}"} 0.021 ${at}`,
    );
  });

  test('where no call is recorded there are none, and Prometheus text never has any', async () => {
    const registry = new MetricRegistry();
    const put = new RpcMetrics(registry, { extensive: true, clock: new SimClock() }).hooks(PUT, 'unary');
    put.end({ span: undefined }, { code: 0 }, 20);
    expect(await openText(registry)).not.toContain(' # {');
    put.end({ span }, { code: 0 }, 20);
    expect(await openText(registry)).toContain(' # {');
    expect((await registry.render()).text).not.toContain('trace_id');
  });
});
