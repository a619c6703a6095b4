import protobuf from 'protobufjs';
import { HEADING } from './emit.ts';
import { protoFiles } from './schema.ts';

/*
 * The descriptors of .proto files, as protoc makes them (google/protobuf/descriptor.proto), without options, comments and what proto2
 * alone has. Numbers of fields stand in the order of that file.
 */

type Writer = protobuf.Writer;
type Write = (writer: Writer) => void;

const LABEL_OPTIONAL = 1;
const LABEL_REPEATED = 3;
/** FieldDescriptorProto.Type */
const types: Readonly<Record<string, number>> = {
  double: 1,
  float: 2,
  int64: 3,
  uint64: 4,
  int32: 5,
  fixed64: 6,
  fixed32: 7,
  bool: 8,
  string: 9,
  bytes: 12,
  uint32: 13,
  sfixed32: 15,
  sfixed64: 16,
  sint32: 17,
  sint64: 18,
};
const MESSAGE_TYPE = 11;
const ENUM_TYPE = 14;
/** MessageOptions.map_entry */
const MAP_ENTRY_OPTION = 7;

interface DescribedFile {
  readonly path: string;
  readonly descriptor: Uint8Array;
  readonly imports: readonly string[];
  /** The full names of everything that it declares. */
  readonly symbols: readonly string[];
}

/** The module of the descriptors of all files that the pattern matches. */
export function emitDescriptors(pattern: string): readonly [name: string, text: string] {
  const files = describe(pattern);
  const entries = files.map(
    ({ path, descriptor, imports, symbols }) =>
      `  {\n    name: '${path}',\n    imports: ${JSON.stringify(imports).replaceAll('"', "'")},\n` +
      `    symbols: '${symbols.join(' ')}',\n    base64: '${Buffer.from(descriptor).toString('base64')}',\n  },\n`,
  );
  const text = `${HEADING}

/** A .proto file: its FileDescriptorProto, the files that it imports, and the full names of what it declares, with spaces between. */
export interface ProtoFile {
  readonly name: string;
  readonly imports: readonly string[];
  readonly symbols: string;
  readonly base64: string;
}

export const protoFiles: readonly ProtoFile[] = [
${entries.join('')}];
`;
  return ['descriptors.ts', text];
}

function describe(pattern: string): readonly DescribedFile[] {
  const sources = protoFiles(pattern);
  const root = new protobuf.Root();
  for (const { text } of sources) protobuf.parse(text, root, { keepCase: true });
  root.resolveAll();
  return sources.map(({ path, text }) => describeFile(path, text, root));
}

/** The file is parsed once more by itself, which tells what is declared in it. `root` knows what its names mean. */
function describeFile(path: string, text: string, root: protobuf.Root): DescribedFile {
  const own = new protobuf.Root();
  const { package: name = '', imports = [] } = protobuf.parse(text, own, { keepCase: true });
  const scope = name === '' ? own : own.lookup(name);
  if (!(scope instanceof protobuf.Namespace)) throw new Error(`${path}: no package ${name}`);
  const declared = scope.nestedArray.map((entry) => root.lookup(entry.fullName));
  const symbols: string[] = [];
  const writer = protobuf.Writer.create();
  writeText(writer, 1, path);
  writeText(writer, 2, name);
  for (const imported of imports) writeText(writer, 3, imported);
  for (const entry of declared)
    if (entry instanceof protobuf.Type) writePart(writer, 4, (w) => message(w, entry, symbols));
  for (const entry of declared)
    if (entry instanceof protobuf.Enum) writePart(writer, 5, (w) => enumeration(w, entry, symbols));
  for (const entry of declared)
    if (entry instanceof protobuf.Service) writePart(writer, 6, (w) => service(w, entry, symbols));
  writeText(writer, 12, 'proto3');
  return { path, descriptor: writer.finish(), imports, symbols };
}

function message(writer: Writer, type: protobuf.Type, symbols: string[]): void {
  symbols.push(symbolOf(type));
  writeText(writer, 1, type.name);
  const oneofs = type.oneofsArray;
  for (const field of type.fieldsArray) {
    symbols.push(symbolOf(field));
    writePart(writer, 2, (w) => fieldOf(w, field, oneofs));
  }
  for (const entry of type.nestedArray)
    if (entry instanceof protobuf.Type) writePart(writer, 3, (w) => message(w, entry, symbols));
  for (const entry of type.nestedArray)
    if (entry instanceof protobuf.Enum) writePart(writer, 4, (w) => enumeration(w, entry, symbols));
  for (const field of type.fieldsArray) {
    if (field instanceof protobuf.MapField) writePart(writer, 3, (w) => entryOf(w, field, symbols));
  }
  for (const oneof of oneofs) {
    symbols.push(symbolOf(oneof));
    writePart(writer, 8, (w) => writeText(w, 1, oneof.name));
  }
}

function fieldOf(writer: Writer, field: protobuf.Field, oneofs: readonly protobuf.OneOf[]): void {
  const isMap = field instanceof protobuf.MapField;
  writeField(writer, {
    name: field.name,
    number: field.id,
    label: field.repeated || isMap ? LABEL_REPEATED : LABEL_OPTIONAL,
    ...(isMap ? { type: MESSAGE_TYPE, typeName: entryName(field) } : typeOf(field)),
    oneof: field.partOf === null ? undefined : oneofs.indexOf(field.partOf),
  });
}

/** On the wire a map is a list of entries, so its descriptor is that of such a list. */
function entryOf(writer: Writer, field: protobuf.MapField, symbols: string[]): void {
  const name = entryName(field);
  symbols.push(name.slice(1), `${name.slice(1)}.key`, `${name.slice(1)}.value`);
  const key = { name: 'key', number: 1, label: LABEL_OPTIONAL, type: scalarType(field.keyType) };
  const value = { name: 'value', number: 2, label: LABEL_OPTIONAL, ...typeOf(field) };
  writeText(writer, 1, name.slice(name.lastIndexOf('.') + 1));
  for (const one of [key, value]) writePart(writer, 2, (w) => writeField(w, one));
  writePart(writer, 7, (w) => writeNumber(w, MAP_ENTRY_OPTION, 1));
}

const entryName = ({ name, parent }: protobuf.MapField): string => {
  const camel = jsonName(`_${name}`);
  return `${parent?.fullName ?? ''}.${camel}Entry`;
};

interface FieldDescription {
  readonly name: string;
  readonly number: number;
  readonly label: number;
  readonly type: number;
  readonly typeName?: string;
  readonly oneof?: number | undefined;
}

function writeField(writer: Writer, { name, number, label, type, typeName, oneof }: FieldDescription): void {
  writeText(writer, 1, name);
  writeNumber(writer, 3, number);
  writeNumber(writer, 4, label);
  writeNumber(writer, 5, type);
  if (typeName !== undefined) writeText(writer, 6, typeName);
  if (oneof !== undefined) writeNumber(writer, 9, oneof);
  writeText(writer, 10, jsonName(name));
}

function typeOf({
  resolvedType,
  type,
}: Pick<protobuf.Field, 'resolvedType' | 'type'>): Pick<FieldDescription, 'type' | 'typeName'> {
  if (resolvedType instanceof protobuf.Type) return { type: MESSAGE_TYPE, typeName: resolvedType.fullName };
  if (resolvedType instanceof protobuf.Enum) return { type: ENUM_TYPE, typeName: resolvedType.fullName };
  return { type: scalarType(type) };
}

function scalarType(name: string): number {
  const type = types[name];
  if (type === undefined) throw new Error(`no descriptor of type ${name}`);
  return type;
}

function enumeration(writer: Writer, type: protobuf.Enum, symbols: string[]): void {
  symbols.push(symbolOf(type));
  writeText(writer, 1, type.name);
  for (const [name, number] of Object.entries(type.values)) {
    // In protobuf, values belong to what the enum belongs to.
    symbols.push(`${type.parent === null ? '' : symbolOf(type.parent)}.${name}`);
    writePart(writer, 2, (w) => {
      writeText(w, 1, name);
      writeNumber(w, 2, number);
    });
  }
}

function service(writer: Writer, { name, fullName, methodsArray }: protobuf.Service, symbols: string[]): void {
  symbols.push(fullName.slice(1));
  writeText(writer, 1, name);
  for (const method of methodsArray) {
    symbols.push(symbolOf(method));
    const { resolvedRequestType: request, resolvedResponseType: response } = method;
    if (request === null || response === null) throw new Error(`${method.fullName} has no messages`);
    writePart(writer, 2, (w) => {
      writeText(w, 1, method.name);
      writeText(w, 2, request.fullName);
      writeText(w, 3, response.fullName);
      if (method.requestStream === true) writeNumber(w, 5, 1);
      if (method.responseStream === true) writeNumber(w, 6, 1);
    });
  }
}

const symbolOf = ({ fullName }: protobuf.ReflectionObject): string => fullName.slice(1);

/** As protoc makes it (compiler/descriptor.cc: ToJsonName). */
const jsonName = (name: string): string => name.replace(/_+([^_]?)/g, (_, letter: string) => letter.toUpperCase());

function writeText(writer: Writer, field: number, text: string): void {
  writer.uint32(field * 8 + 2).string(text);
}

function writeNumber(writer: Writer, field: number, value: number): void {
  writer.uint32(field * 8).int32(value);
}

function writePart(writer: Writer, field: number, write: Write): void {
  writer.uint32(field * 8 + 2).fork();
  write(writer);
  writer.ldelim();
}
