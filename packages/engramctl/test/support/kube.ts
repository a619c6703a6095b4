import { utf8 } from '@engram/core';

/** A field of protobuf whose value has a length: an independent encoder of what Kubernetes writes. */
export function field(number: number, value: string | Uint8Array): Buffer {
  const bytes = typeof value === 'string' ? utf8(value) : value;
  return Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes]);
}

export function varint(value: number): Buffer {
  const bytes: number[] = [];
  let rest = value;
  for (; rest >= 0x80; rest = Math.floor(rest / 0x80)) bytes.push((rest % 0x80) + 0x80);
  return Buffer.from([...bytes, rest]);
}

export interface ObjectOptions {
  readonly apiVersion?: string;
  readonly kind?: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly uid?: string;
  readonly spec?: string;
}

/** An object as kube-apiserver stores it: `k8s\0`, then runtime.Unknown. */
export function kubeProtobuf({
  apiVersion = 'v1',
  kind = 'Pod',
  name = 'web',
  namespace = 'default',
  uid = 'u-1',
  spec = '',
}: ObjectOptions = {}): Buffer {
  const meta = Buffer.concat([
    field(1, name),
    field(2, ''),
    ...(namespace === '' ? [] : [field(3, namespace)]),
    field(4, ''),
    field(5, uid),
  ]);
  const object = Buffer.concat([field(1, meta), field(2, spec)]);
  const type = Buffer.concat([field(1, apiVersion), field(2, kind)]);
  return Buffer.concat([utf8('k8s\0'), field(1, type), field(2, object), field(3, ''), field(4, '')]);
}

export const kubeJson = (fields: object): string => JSON.stringify(fields);
