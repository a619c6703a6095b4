import { Reader, WireError } from '@engram/protobuf';

/** The head of an object that Kubernetes stores, as far as it can be read. */
export interface KubeObject {
  readonly apiVersion: string;
  readonly kind: string;
  /** Absent where the object has none that can be read. */
  readonly meta?: KubeMeta | undefined;
}

export interface KubeMeta {
  readonly name: string;
  readonly namespace: string;
  readonly uid: string;
}

/** What a value is, by its first bytes. */
export type KubeValue =
  /** `k8s\0` and a runtime.Unknown around an object in protobuf. */
  | (KubeObject & {
      readonly form: 'protobuf';
      readonly contentType: string;
      readonly contentEncoding: string;
      /** Of the object within the envelope. */
      readonly rawBytes: number;
    })
  /** As custom resources are. */
  | (KubeObject & { readonly form: 'json' })
  /** Self-described CBOR (RFC 8949, 3.4.6). Not decoded. */
  | { readonly form: 'cbor' }
  /** Encrypted at rest: `k8s:enc:<provider>:<version>:<key name>:` and bytes that only the apiserver's key opens. */
  | { readonly form: 'encrypted'; readonly provider: string; readonly version: string; readonly keyName: string }
  /** It begins as one of these, and is none. */
  | { readonly form: 'damaged'; readonly why: string }
  | { readonly form: 'other' };

const PROTOBUF = Buffer.from('k8s\0');
const ENCRYPTED = Buffer.from('k8s:enc:');
const CBOR = Buffer.from('d9d9f7', 'hex');
const BRACE = '{'.charCodeAt(0);
const COLON = ':'.charCodeAt(0);

/** Of the names in the marker of encryption together: they are of a configuration file. */
const MARKER_BYTES_MAX = 1024;
/** Far above etcd's request limit. */
const JSON_BYTES_MAX = 32 << 20;
/** Of the texts that are taken out of an object. Kubernetes' names have at most 253 characters. */
const TEXT_BYTES_MAX = 4096;

/** Reads a value of a Kubernetes' store. The bytes may be anything: never throws, and takes no longer than the bytes are. */
export function kubeValue(value: Uint8Array): KubeValue {
  if (startsWith(value, PROTOBUF)) return envelope(value.subarray(PROTOBUF.length));
  if (startsWith(value, ENCRYPTED)) return encrypted(value.subarray(ENCRYPTED.length));
  if (startsWith(value, CBOR)) return { form: 'cbor' };
  return value[0] === BRACE && value.length <= JSON_BYTES_MAX ? json(value) : { form: 'other' };
}

const startsWith = (bytes: Uint8Array, start: Uint8Array): boolean =>
  bytes.length >= start.length && Buffer.compare(bytes.subarray(0, start.length), start) === 0;

/** runtime.Unknown (apimachinery/pkg/runtime/generated.proto): 1 typeMeta, 2 raw, 3 contentEncoding, 4 contentType. */
function envelope(bytes: Uint8Array): KubeValue {
  let raw: Uint8Array = new Uint8Array(0);
  let type = { apiVersion: '', kind: '' };
  let contentType = '';
  let contentEncoding = '';
  try {
    const reader = new Reader(bytes);
    while (reader.more()) {
      const tag = reader.tag();
      if (tag === delimited(1)) type = typeMeta(reader.bytes());
      else if (tag === delimited(2)) raw = reader.bytes();
      else if (tag === delimited(3)) contentEncoding = text(reader);
      else if (tag === delimited(4)) contentType = text(reader);
      else reader.skip(tag);
    }
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { form: 'damaged', why: `the envelope cannot be decoded: ${error.message}` };
  }
  const meta = contentEncoding === '' ? objectMeta(raw) : undefined;
  return { form: 'protobuf', ...type, contentType, contentEncoding, rawBytes: raw.length, ...(meta && { meta }) };
}

const delimited = (field: number): number => field * 8 + 2;

function text(reader: Reader): string {
  const bytes = reader.bytes();
  if (bytes.length > TEXT_BYTES_MAX) throw new WireError(`a name of ${bytes.length} bytes`);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('utf8');
}

/** 1 apiVersion, 2 kind. */
function typeMeta(bytes: Uint8Array): { apiVersion: string; kind: string } {
  const type = { apiVersion: '', kind: '' };
  const reader = new Reader(bytes);
  while (reader.more()) {
    const tag = reader.tag();
    if (tag === delimited(1)) type.apiVersion = text(reader);
    else if (tag === delimited(2)) type.kind = text(reader);
    else reader.skip(tag);
  }
  return type;
}

/**
 * The ObjectMeta in field 1 of an object (apimachinery/pkg/apis/meta/v1/generated.proto): 1 name, 3 namespace, 5 uid. Undefined if
 * field 1 is none: an object need not have one.
 */
function objectMeta(object: Uint8Array): KubeMeta | undefined {
  try {
    const reader = new Reader(object);
    if (!reader.more() || reader.tag() !== delimited(1)) return undefined;
    const meta = { name: '', namespace: '', uid: '' };
    const inner = new Reader(reader.bytes());
    while (inner.more()) {
      const tag = inner.tag();
      if (tag === delimited(1)) meta.name = text(inner);
      else if (tag === delimited(3)) meta.namespace = text(inner);
      else if (tag === delimited(5)) meta.uid = text(inner);
      else inner.skip(tag);
    }
    return meta.name === '' && meta.uid === '' ? undefined : meta;
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return undefined;
  }
}

function encrypted(bytes: Uint8Array): KubeValue {
  const names: string[] = [];
  const marker = bytes.subarray(0, MARKER_BYTES_MAX);
  for (let start = 0; names.length < 3; ) {
    const end = marker.indexOf(COLON, start);
    if (end < 0) return { form: 'damaged', why: 'the marker of encryption is cut' };
    names.push(Buffer.from(marker.subarray(start, end)).toString('utf8'));
    start = end + 1;
  }
  const [provider = '', version = '', keyName = ''] = names;
  return { form: 'encrypted', provider, version, keyName };
}

function json(value: Uint8Array): KubeValue {
  let parsed: unknown;
  try {
    parsed = JSON.parse(Buffer.from(value.buffer, value.byteOffset, value.length).toString('utf8'));
  } catch {
    return { form: 'other' };
  }
  const { apiVersion, kind, metadata } = fieldsOf(parsed);
  if (!isName(apiVersion) || !isName(kind)) return { form: 'other' };
  const { name, namespace, uid } = fieldsOf(metadata);
  const meta = isName(name) ? { name, namespace: nameOr(namespace), uid: nameOr(uid) } : undefined;
  return { form: 'json', apiVersion, kind, ...(meta && { meta }) };
}

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};
const isName = (value: unknown): value is string => typeof value === 'string' && value.length <= TEXT_BYTES_MAX;
const nameOr = (value: unknown): string => (isName(value) ? value : '');
