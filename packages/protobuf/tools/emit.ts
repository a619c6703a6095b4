import type { EnumSchema, Field, Kind, MessageSchema, Schema } from './schema.ts';

export const HEADING = '// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.';

interface Scalar {
  readonly type: string;
  /** The proto3 default, as source text. */
  readonly zero: string;
  /** The Reader method that reads one value. */
  readonly read: string;
  /** Source text of the condition under which a value is written. */
  readonly present: (value: string) => string;
  /** Source text that writes a value. */
  readonly write: (value: string) => string;
}

function scalar(read: string, write: string, type = 'number', zero = '0'): Scalar {
  return {
    type,
    zero,
    read,
    present: (value) => `${value} !== ${zero}`,
    write: (value) => `w.${write}(${value})`,
  };
}

const scalars: Readonly<Record<Exclude<Kind, 'message'>, Scalar>> = {
  int32: scalar('int32', 'int64'),
  uint32: scalar('uint32', 'varint'),
  int64: scalar('int64', 'int64'),
  uint64: scalar('uint64', 'uint64'),
  count: scalar('count', 'int64'),
  'exact-int64': scalar('exactInt64', 'exactInt64', 'Int64'),
  'big-int64': scalar('bigInt64', 'bigint', 'bigint', '0n'),
  'big-uint64': scalar('bigUint64', 'bigint', 'bigint', '0n'),
  bool: {
    type: 'boolean',
    zero: 'false',
    read: 'bool',
    present: (value) => value,
    write: (value) => `w.varint(${value} ? 1 : 0)`,
  },
  bytes: {
    type: 'Uint8Array',
    zero: 'EMPTY_BYTES',
    read: 'bytes',
    present: (value) => `${value}.length > 0`,
    write: (value) => `w.bytes(${value})`,
  },
  string: scalar('string', 'string', 'string', "''"),
  'lenient-string': scalar('lenientString', 'string', 'string', "''"),
};

/** Maps file names, all in one folder, to their contents. `bounded`: see MessageSet. */
export function emitAll(schema: Schema, bounded?: string): Map<string, string> {
  const files = new Map<string, string>();
  const packages = new Set(schema.messages.map((message) => message.package));
  for (const name of packages) {
    files.set(
      `${fileName(name)}.ts`,
      emitPackage(
        name,
        schema.messages.filter((message) => message.package === name),
        schema.enums.filter((one) => one.package === name),
        bounded,
      ),
    );
  }
  return files;
}

export const fileName = (packageName: string): string => packageName.replaceAll('.', '-');
export const namespaceName = (packageName: string): string => packageName.replaceAll('.', '_');

function emitPackage(
  name: string,
  messages: readonly MessageSchema[],
  enums: readonly EnumSchema[],
  bounded: string | undefined,
): string {
  const body = [...enums.map(emitEnum), ...messages.map((message) => emitMessage(message, bounded))].join('\n');
  const bound = body.includes(FIELDS_MAX) ? `${FIELDS_MAX}, ` : '';
  const others = new Set(messages.flatMap(({ fields }) => fields.flatMap(({ type }) => type?.package ?? [])));
  others.delete(name);
  const fromCore = [
    ...(body.includes('EMPTY_BYTES') ? ['EMPTY_BYTES'] : []),
    ...(body.includes(': Int64;') ? ['type Int64'] : []),
  ];
  const imports = [
    ...(fromCore.length > 0 ? [`import { ${fromCore.join(', ')} } from '@engram/core';`] : []),
    `import { type Codec, decode, encode, type Init, type Reader, ${bound}type Writer } from '@engram/protobuf';`,
    ...[...others].toSorted().map((other) => `import * as ${namespaceName(other)} from './${fileName(other)}.ts';`),
  ];
  return `${HEADING}\n${imports.join('\n')}\n\n${body}`;
}

function emitEnum({ name, values }: EnumSchema): string {
  const entries = Object.entries(values).map(([value, number]) => `${value}: ${number}`);
  return `export const ${name} = { ${entries.join(', ')} } as const;\n`;
}

const FIELDS_MAX = 'REQUEST_FIELDS_MAX';

function emitMessage({ package: own, name, fields }: MessageSchema, bounded: string | undefined): string {
  const bound = bounded !== undefined && name.endsWith(bounded) ? `, ${FIELDS_MAX}` : '';
  const named = fields.map((field) => ({ field, type: typeSource(field, own) }));
  const used = fields.length > 0 ? '' : '_';
  return `export interface ${name} {
${named.map(({ field, type }) => `  ${field.name}: ${fieldType(field, type)};\n`).join('')}}
export type ${name}Init = Init<${name}>;

export const new${name} = (): ${name} => ({${fields.map((field) => ` ${field.name}: ${zero(field)},`).join('')} });

/** Reads fields until the reader's message ends, over what \`message\` has already. */
export function read${name}(r: Reader, message: ${name}): ${name} {
  while (r.more()) {
    const tag = r.tag();
    switch (tag) {
${named.map(({ field, type }) => emitRead(field, type)).join('')}      default:
        r.skip(tag);
    }
  }
  return message;
}

/** Writes the fields before what the writer has already, the last one first. */
export function write${name}(${used}w: Writer, ${used}message: ${name}Init): void {
${named
  .map(({ field, type }) => emitWrite(field, type))
  .toReversed()
  .join('')}}

export const ${name}Codec: Codec<${name}, ${name}Init> = {
  write: write${name},
  read: (r) => read${name}(r, new${name}()),
};
export const encode${name} = (message: ${name}Init): Uint8Array => encode(${name}Codec, message);
export const decode${name} = (bytes: Uint8Array): ${name} => decode(${name}Codec, bytes${bound});
`;
}

/** How source text refers to a field's type and its functions: a prefix and a name. */
interface TypeSource {
  readonly prefix: string;
  readonly name: string;
}

function typeSource({ kind, type }: Field, own: string): TypeSource {
  if (kind !== 'message') return { prefix: '', name: scalars[kind].type };
  return { prefix: type!.package === own ? '' : `${namespaceName(type!.package)}.`, name: type!.name };
}

function fieldType(field: Field, { prefix, name }: TypeSource): string {
  if (field.repeated) return `${prefix}${name}[]`;
  return `${prefix}${name}${field.kind === 'message' || field.rivals !== undefined ? ' | undefined' : ''}`;
}

function zero(field: Field): string {
  if (field.repeated) return '[]';
  return field.kind === 'message' || field.rivals !== undefined ? 'undefined' : scalars[field.kind].zero;
}

const isDelimited = ({ kind }: Field): boolean =>
  kind === 'message' || kind === 'bytes' || kind === 'string' || kind === 'lenient-string';
const tagOf = (field: Field, delimited: boolean): number => field.number * 8 + (delimited ? 2 : 0);

function emitRead(field: Field, { prefix, name }: TypeSource): string {
  const target = `message.${field.name}`;
  const clear = (field.rivals ?? []).map((rival) => `        message.${rival} = undefined;\n`).join('');
  if (field.kind === 'message') {
    const read = field.repeated
      ? `${target}.push(${prefix}read${name}(r, ${prefix}new${name}()));`
      : `${target} = ${prefix}read${name}(r, ${target} ?? ${prefix}new${name}());`;
    return `      case ${tagOf(field, true)}: {
        const outer = r.enter();
        ${read}
        r.leave(outer);
${clear}        break;
      }
`;
  }
  const read = `r.${scalars[field.kind].read}()`;
  const single = `      case ${tagOf(field, isDelimited(field))}:
        ${field.repeated ? `${target}.push(${read});` : `${target} = ${read};`}
${clear}        break;
`;
  if (!field.repeated || isDelimited(field)) return single;
  return `${single}      case ${tagOf(field, true)}: {
        const outer = r.enterList();
        while (r.more()) ${target}.push(${read});
        r.leave(outer);
        break;
      }
`;
}

function emitWrite(field: Field, { prefix, name }: TypeSource): string {
  const get = `message.${field.name}`;
  const tag = `w.varint(${tagOf(field, isDelimited(field) || field.repeated)});`;
  const one = field.kind === 'message' ? undefined : scalars[field.kind];
  /** The lines that write `source` with its length before it. */
  const nested = (source: string, indent: string): string =>
    [`const end = w.length;`, source, 'w.varint(w.length - end);', tag].map((line) => `${indent}${line}\n`).join('');
  const message = (value: string): string => `${prefix}write${name}(w, ${value});`;

  if (field.repeated) {
    const loop = (body: string): string => `  if (${get} !== undefined && ${get}.length > 0) {\n${body}  }\n`;
    const each = `for (let at = ${get}.length - 1; at >= 0; at -= 1)`;
    const value = `${get}[at]!`;
    if (one === undefined) return loop(`    ${each} {\n${nested(message(value), '      ')}    }\n`);
    if (isDelimited(field)) return loop(`    ${each} {\n      ${one.write(value)};\n      ${tag}\n    }\n`);
    return loop(nested(`${each} ${one.write(value)};`, '    '));
  }
  if (one === undefined) return `  if (${get} !== undefined) {\n${nested(message(get), '    ')}  }\n`;
  return `  if (${condition(field, one, get)}) {\n    ${one.write(get)};\n    ${tag}\n  }\n`;
}

/** A member of a oneof is written whenever it is set. Any other scalar is written when it is not the default. */
function condition(field: Field, one: Scalar, get: string): string {
  if (field.rivals !== undefined) return `${get} !== undefined`;
  return one.type === 'boolean' ? `${get} === true` : `${get} !== undefined && ${one.present(get)}`;
}
