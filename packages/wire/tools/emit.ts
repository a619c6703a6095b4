import type { EnumSchema, Field, Kind, MessageSchema, Schema, ServiceSchema } from './schema.ts';

const HEADING = '// Made by packages/wire/tools/generate.ts from proto/. Not edited by hand.';

interface Scalar {
  readonly type: string;
  /** The proto3 default, as source. */
  readonly zero: string;
  readonly read: string;
  /** Sources of: is it to be written, its size without tag, writing it. */
  readonly present: (value: string) => string;
  readonly size: (value: string) => string;
  readonly write: (value: string) => string;
  /** Functions of writer.ts that it needs. */
  readonly needs: readonly string[];
}

function varintScalar(name: string, suffix: string, type = 'number', zero = '0'): Scalar {
  return {
    type,
    zero,
    read: `reader.${name}()`,
    present: (value) => `${value} !== ${zero}`,
    size: (value) => `size${suffix}(${value})`,
    write: (value) => `write${suffix}(${value}, into, next)`,
    needs: [`size${suffix}`, `write${suffix}`],
  };
}

const scalars: Readonly<Record<Exclude<Kind, 'message'>, Scalar>> = {
  int32: varintScalar('int32', 'Int32'),
  uint32: varintScalar('uint32', 'Varint'),
  int64: varintScalar('int64', 'Int64'),
  uint64: varintScalar('uint64', 'Uint64'),
  'big-int64': varintScalar('bigInt64', 'Big', 'bigint', '0n'),
  'exact-int64': varintScalar('exactInt64', 'Exact', 'Int64'),
  'big-uint64': varintScalar('bigUint64', 'Big', 'bigint', '0n'),
  bool: {
    type: 'boolean',
    zero: 'false',
    read: 'reader.bool()',
    present: (value) => value,
    size: () => '1',
    write: (value) => `writeVarint(${value} ? 1 : 0, into, next)`,
    needs: ['writeVarint'],
  },
  bytes: {
    type: 'Uint8Array',
    zero: 'EMPTY_BYTES',
    read: 'reader.bytes()',
    present: (value) => `${value}.length > 0`,
    size: (value) => `sizeDelimited(${value}.length)`,
    write: (value) => `writeBytes(${value}, into, next)`,
    needs: ['sizeDelimited', 'writeBytes'],
  },
  string: {
    type: 'string',
    zero: "''",
    read: 'reader.string()',
    present: (value) => `${value} !== ''`,
    size: (value) => `sizeString(${value})`,
    write: (value) => `writeString(${value}, into, next)`,
    needs: ['sizeString', 'writeString'],
  },
};

/** File name (of src/gen/) to content. */
export function emitAll(schema: Schema): Map<string, string> {
  const files = new Map<string, string>();
  const packages = new Set(schema.messages.map((message) => message.package));
  for (const name of packages) {
    files.set(
      `${fileName(name)}.ts`,
      emitPackage(
        name,
        schema.messages.filter((message) => message.package === name),
        schema.enums.filter((one) => one.package === name),
      ),
    );
  }
  files.set('services.ts', emitServices(schema.services));
  return files;
}

const fileName = (packageName: string): string => packageName.replaceAll('.', '-');

function emitPackage(name: string, messages: readonly MessageSchema[], enums: readonly EnumSchema[]): string {
  const body = [...enums.map(emitEnum), ...messages.map(emitMessage)].join('\n');
  const helpers = new Set<string>(['sizeVarint', 'writeVarint']);
  const foreign = new Map<string, Set<string>>();
  for (const field of messages.flatMap((message) => message.fields)) {
    if (field.kind !== 'message') for (const need of scalars[field.kind].needs) helpers.add(need);
    if (field.type === undefined || field.type.package === name) continue;
    const names = foreign.get(field.type.package) ?? new Set<string>();
    foreign.set(field.type.package, names);
    names.add(`type ${field.type.name}`);
    for (const prefix of ['new', 'read', 'size', 'write']) names.add(`${prefix}${field.type.name}`);
  }
  const used = [...helpers].filter((helper) => body.includes(`${helper}(`)).toSorted();
  const fromCore = [
    body.includes('EMPTY_BYTES') ? 'EMPTY_BYTES' : '',
    body.includes(': Int64;') ? 'type Int64' : '',
  ].filter((name) => name !== '');
  const imports = [
    fromCore.length > 0 ? `import { ${fromCore.join(', ')} } from '@engram/core';` : '',
    "import type { Init } from '../protobuf/init.ts';",
    "import { Reader } from '../protobuf/reader.ts';",
    used.length > 0 ? `import { ${used.join(', ')} } from '../protobuf/writer.ts';` : '',
    ...[...foreign].map(
      ([from, names]) => `import { ${[...names].toSorted().join(', ')} } from './${fileName(from)}.ts';`,
    ),
  ].filter((line) => line !== '');
  return `${HEADING}\n${imports.join('\n')}\n\n${body}`;
}

function emitEnum({ name, values }: EnumSchema): string {
  const entries = Object.entries(values).map(([value, number]) => `${value}: ${number}`);
  return `export const ${name} = { ${entries.join(', ')} } as const;\n`;
}

function emitMessage({ name, fields }: MessageSchema): string {
  const needsMessage = fields.length > 0;
  return `export interface ${name} {
${fields.map((field) => `  ${field.name}: ${fieldType(field)};\n`).join('')}}

export const new${name} = (): ${name} => ({${fields.map((field) => ` ${field.name}: ${zero(field)},`).join('')} });

/** Reads fields until the reader's message ends, over what \`message\` has already. */
export function read${name}(reader: Reader, message: ${name}): ${name} {
  while (reader.more()) {
    const tag = reader.tag();
    switch (tag) {
${fields.map(emitRead).join('')}      default:
        reader.skip(tag);
    }
  }
  return message;
}

export function decode${name}(bytes: Uint8Array): ${name} {
  return read${name}(new Reader(bytes), new${name}());
}

export function size${name}(${needsMessage ? 'message' : '_message'}: Init<${name}>): number {
  ${needsMessage ? 'let' : 'const'} size = 0;
${fields.map(emitSize).join('')}  return size;
}

/** Writes \`size${name}(message)\` bytes from \`at\` on, and returns where the next one goes. */
export function write${name}(${needsMessage ? 'message' : '_message'}: Init<${name}>, ${needsMessage ? 'into' : '_into'}: Uint8Array, at: number): number {
  ${needsMessage ? 'let' : 'const'} next = at;
${fields.map(emitWrite).join('')}  return next;
}

export function encode${name}(message: Init<${name}>): Uint8Array {
  const into = new Uint8Array(size${name}(message));
  write${name}(message, into, 0);
  return into;
}
`;
}

const valueType = (field: Field): string => (field.kind === 'message' ? field.type!.name : scalars[field.kind].type);

function fieldType(field: Field): string {
  if (field.repeated) return `${valueType(field)}[]`;
  return field.kind === 'message' || field.rivals !== undefined ? `${valueType(field)} | undefined` : valueType(field);
}

function zero(field: Field): string {
  if (field.repeated) return '[]';
  return field.kind === 'message' || field.rivals !== undefined ? 'undefined' : scalars[field.kind].zero;
}

const isDelimited = (kind: Kind): boolean => kind === 'message' || kind === 'bytes' || kind === 'string';
const tagOf = (field: Field, delimited: boolean): number => field.number * 8 + (delimited ? 2 : 0);

function emitRead(field: Field): string {
  const target = `message.${field.name}`;
  const clear = (field.rivals ?? []).map((rival) => `        message.${rival} = undefined;\n`).join('');
  if (field.kind === 'message') {
    const type = field.type!.name;
    const read = field.repeated
      ? `${target}.push(read${type}(reader, new${type}()));`
      : `${target} = read${type}(reader, ${target} ?? new${type}());`;
    return `      case ${tagOf(field, true)}: {
        const outer = reader.enter();
        ${read}
        reader.leave(outer);
${clear}        break;
      }
`;
  }
  const { read } = scalars[field.kind];
  const single = `      case ${tagOf(field, isDelimited(field.kind))}:
        ${field.repeated ? `${target}.push(${read});` : `${target} = ${read};`}
${clear}        break;
`;
  if (!field.repeated || isDelimited(field.kind)) return single;
  return `${single}      case ${tagOf(field, true)}: {
        const outer = reader.enter();
        while (reader.more()) ${target}.push(${read});
        reader.leave(outer);
        break;
      }
`;
}

function emitSize(field: Field): string {
  const tagSize = varintSize(tagOf(field, true));
  const get = `message.${field.name}`;
  const one = field.kind === 'message' ? undefined : scalars[field.kind];
  if (field.repeated && !isDelimited(field.kind)) {
    return `  if (${get} !== undefined && ${get}.length > 0) {
    let packed = 0;
    for (const value of ${get}) packed += ${one!.size('value')};
    size += ${tagSize} + sizeVarint(packed) + packed;
  }
`;
  }
  if (one === undefined) {
    const type = field.type!.name;
    const add = (value: string): string => `const inner = size${type}(${value});
    size += ${tagSize} + sizeVarint(inner) + inner;`;
    if (field.repeated) return `  for (const value of ${get} ?? []) {\n    ${add('value')}\n  }\n`;
    return `  if (${get} !== undefined) {\n    ${add(get)}\n  }\n`;
  }
  if (field.repeated) return `  for (const value of ${get} ?? []) size += ${tagSize} + ${one.size('value')};\n`;
  return `  if (${condition(field, one, get)}) size += ${tagSize} + ${one.size(get)};\n`;
}

function emitWrite(field: Field): string {
  const get = `message.${field.name}`;
  const tag = emitTag(tagOf(field, isDelimited(field.kind) || field.repeated));
  const one = field.kind === 'message' ? undefined : scalars[field.kind];
  if (field.repeated && !isDelimited(field.kind)) {
    return `  if (${get} !== undefined && ${get}.length > 0) {
    let packed = 0;
    for (const value of ${get}) packed += ${one!.size('value')};
    ${tag}
    next = writeVarint(packed, into, next);
    for (const value of ${get}) next = ${one!.write('value')};
  }
`;
  }
  const write = (value: string): string =>
    one === undefined
      ? `next = writeVarint(size${field.type!.name}(${value}), into, next);
    next = write${field.type!.name}(${value}, into, next);`
      : `next = ${one.write(value)};`;
  if (field.repeated) return `  for (const value of ${get} ?? []) {\n    ${tag}\n    ${write('value')}\n  }\n`;
  const present = one === undefined ? `${get} !== undefined` : condition(field, one, get);
  return `  if (${present}) {\n    ${tag}\n    ${write(get)}\n  }\n`;
}

/** A member of a oneof is written whenever it is set, any other scalar when it is not the default. */
function condition(field: Field, one: Scalar, get: string): string {
  if (field.rivals !== undefined) return `${get} !== undefined`;
  return one.type === 'boolean' ? `${get} === true` : `${get} !== undefined && ${one.present(get)}`;
}

function emitTag(tag: number): string {
  if (tag < 0x80) return `into[next] = ${tag};\n    next += 1;`;
  return `next = writeVarint(${tag}, into, next);`;
}

function varintSize(value: number): number {
  return value < 0x80 ? 1 : 1 + varintSize(Math.floor(value / 0x80));
}

function emitServices(services: readonly ServiceSchema[]): string {
  const rows = services.map(({ name, methods }) => {
    const lines = methods.map(
      (method) =>
        `      { name: '${method.name}', clientStream: ${method.clientStream}, serverStream: ${method.serverStream} },\n`,
    );
    return `  {\n    name: '${name}',\n    methods: [\n${lines.join('')}    ],\n  },\n`;
  });
  return `${HEADING}

/** Every service and method of the public interface; a method's path is \`/<service>/<method>\`. */
export const services = [
${rows.join('')}] as const;
`;
}
