import { Reader, Writer } from '@engram/protobuf';
import type { Exemplar } from '@engram/telemetry';
import { DataPointType, type Histogram, type MetricData } from '@opentelemetry/sdk-metrics';

/*
 * The library has no exemplars: neither in its types nor in what it writes. So they are kept beside its histograms, and put into
 * the bytes that it has made. Fields of a message may come in any order.
 */

/** Where the points of histograms are in ExportMetricsServiceRequest: resource_metrics, scope_metrics, metrics, histogram, data_points. */
const HISTOGRAM_POINT = [1, 2, 2, 9, 1] as const;
/** HistogramDataPoint.exemplars, and the fields of Exemplar. */
const EXEMPLARS = 8;
const TIME_UNIX_NANO = 2;
const AS_DOUBLE = 3;
const TRACE_ID = 5;
const FIXED64 = 1;
const DELIMITED = 2;
const NANOSECONDS = 1_000_000n;

const kept = new WeakMap<Histogram, readonly Exemplar[]>();

/** `exemplars`: by bucket. */
export function keepExemplars(histogram: Histogram, exemplars: readonly (Exemplar | undefined)[]): void {
  const present = exemplars.filter((exemplar) => exemplar !== undefined);
  if (present.length > 0) kept.set(histogram, present);
}

/** `request` is the encoded request that has these metrics alone. Without exemplars it is returned as it is. */
export function withExemplars(request: Uint8Array, metrics: readonly MetricData[]): Uint8Array {
  const byPoint = metrics.flatMap((metric) =>
    metric.dataPointType === DataPointType.HISTOGRAM ? metric.dataPoints.map(({ value }) => kept.get(value) ?? []) : [],
  );
  if (byPoint.every((exemplars) => exemplars.length === 0)) return request;
  const points = byPoint.values();
  return lengthened(request, HISTOGRAM_POINT, () => encoded(points.next().value ?? []));
}

/** The message with more bytes at the end of each message to which `path` leads, in their order. */
function lengthened(message: Uint8Array, path: readonly number[], more: () => Uint8Array): Uint8Array {
  const [field, ...inner] = path;
  if (field === undefined) return Buffer.concat([message, more()]);
  const reader = new Reader(message);
  const pieces: Uint8Array[] = [];
  while (reader.more()) {
    const from = reader.at;
    const tag = reader.tag();
    if (tag === tagOf(field, DELIMITED)) {
      pieces.push(delimited(field, lengthened(reader.bytes(), inner, more)));
    } else {
      reader.skip(tag);
      pieces.push(message.subarray(from, reader.at));
    }
  }
  return Buffer.concat(pieces);
}

const tagOf = (field: number, wireType: number): number => field * 8 + wireType;

function delimited(field: number, message: Uint8Array): Uint8Array {
  const writer = new Writer();
  writer.bytes(message);
  writer.varint(tagOf(field, DELIMITED));
  return writer.finish();
}

/** Exemplars as fields of their point. */
function encoded(exemplars: readonly Exemplar[]): Uint8Array {
  return Buffer.concat(
    exemplars.map(({ traceId, value, wallMs }) => {
      const fixed = Buffer.alloc(18);
      fixed.writeUInt8(tagOf(TIME_UNIX_NANO, FIXED64), 0);
      fixed.writeBigUInt64LE(BigInt(Math.round(wallMs)) * NANOSECONDS, 1);
      fixed.writeUInt8(tagOf(AS_DOUBLE, FIXED64), 9);
      fixed.writeDoubleLE(value, 10);
      return delimited(EXEMPLARS, Buffer.concat([fixed, delimited(TRACE_ID, Buffer.from(traceId, 'hex'))]));
    }),
  );
}
