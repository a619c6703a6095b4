import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import { identifiers, watchIds } from './identifiers.ts';

/** How a single value of a field is read, sized and written. */
export type Kind =
  | 'bool'
  | 'bytes'
  | 'string'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'big-int64'
  | 'big-uint64'
  | 'exact-int64'
  | 'message';

export interface Field {
  readonly name: string;
  readonly number: number;
  readonly kind: Kind;
  readonly repeated: boolean;
  /** The other fields of its oneof, by name; undefined when it is in none. */
  readonly rivals: readonly string[] | undefined;
  /** The message's type, when the kind is message. */
  readonly type: TypeName | undefined;
}

/** A message or enum: the package it is in, and its name there, nested names joined. */
export interface TypeName {
  readonly package: string;
  readonly name: string;
}

export interface MessageSchema extends TypeName {
  readonly fields: readonly Field[];
}

export interface EnumSchema extends TypeName {
  readonly values: Readonly<Record<string, number>>;
}

export interface ServiceSchema {
  readonly name: string;
  readonly methods: readonly {
    readonly name: string;
    readonly clientStream: boolean;
    readonly serverStream: boolean;
  }[];
}

export interface Schema {
  readonly messages: readonly MessageSchema[];
  readonly enums: readonly EnumSchema[];
  readonly services: readonly ServiceSchema[];
}

/** All of `protoFolder`, parsed and resolved. */
export function loadRoot(protoFolder: string): protobuf.Root {
  const root = new protobuf.Root();
  for (const path of globSync('**/*.proto', { cwd: protoFolder }).toSorted()) {
    protobuf.parse(readFileSync(join(protoFolder, path), 'utf8'), root, { keepCase: true });
  }
  root.resolveAll();
  return root;
}

export function readSchema(root: protobuf.Root): Schema {
  const messages: MessageSchema[] = [];
  const enums: EnumSchema[] = [];
  const services: ServiceSchema[] = [];
  const unused = new Set([...identifiers, ...watchIds]);

  const visit = (namespace: protobuf.NamespaceBase): void => {
    for (const entry of namespace.nestedArray) {
      if (entry instanceof protobuf.Type) messages.push(...messagesOf(entry, unused));
      else if (entry instanceof protobuf.Enum) enums.push({ ...typeName(entry), values: entry.values });
      else if (entry instanceof protobuf.Service) services.push(serviceOf(entry));
      if (entry instanceof protobuf.Namespace) visit(entry);
    }
  };
  visit(root);
  if (unused.size > 0) throw new Error(`identifiers.ts names fields that are in no message: ${[...unused].join(', ')}`);
  return { messages, enums, services };
}

/** A message, and the entry messages of its maps: on the wire a map is a list of key and value. */
function messagesOf(type: protobuf.Type, unused: Set<string>): MessageSchema[] {
  const name = typeName(type);
  const found: MessageSchema[] = [];
  const fields = type.fieldsArray.map((field): Field => {
    if (!(field instanceof protobuf.MapField)) return fieldOf(field, unused);
    const entry = { package: name.package, name: `${name.name}${pascalCase(field.name)}Entry` };
    const part = { repeated: false, rivals: undefined };
    found.push({
      ...entry,
      fields: [
        { name: 'key', number: 1, kind: scalarKind(field.keyType, 'number'), type: undefined, ...part },
        { name: 'value', number: 2, ...kindOf(field, 'number'), ...part },
      ],
    });
    return {
      name: camelCase(field.name),
      number: field.id,
      kind: 'message',
      repeated: true,
      rivals: undefined,
      type: entry,
    };
  });
  found.push({ ...name, fields: fields.toSorted((left, right) => left.number - right.number) });
  return found;
}

function fieldOf(field: protobuf.Field, unused: Set<string>): Field {
  const path = field.fullName.slice(1);
  unused.delete(path);
  const oneof = field.partOf;
  return {
    name: camelCase(field.name),
    number: field.id,
    ...kindOf(field, form64(path)),
    repeated: field.repeated,
    rivals: oneof?.fieldsArray.filter((other) => other !== field).map((other) => camelCase(other.name)),
  };
}

/** What a 64-bit field becomes. */
type Form64 = 'number' | 'bigint' | 'exact';

function form64(path: string): Form64 {
  if (identifiers.includes(path)) return 'bigint';
  return watchIds.includes(path) ? 'exact' : 'number';
}

function kindOf(field: protobuf.Field, form: Form64): Pick<Field, 'kind' | 'type'> {
  if (field.resolvedType instanceof protobuf.Type) return { kind: 'message', type: typeName(field.resolvedType) };
  const scalar = field.resolvedType instanceof protobuf.Enum ? 'int32' : field.type;
  return { kind: scalarKind(scalar, form), type: undefined };
}

function scalarKind(type: string, form: Form64): Kind {
  switch (type) {
    case 'bool':
    case 'bytes':
    case 'string':
    case 'int32':
    case 'uint32':
      return type;
    case 'int64':
      if (form === 'exact') return 'exact-int64';
      return form === 'bigint' ? 'big-int64' : 'int64';
    case 'uint64':
      return form === 'bigint' ? 'big-uint64' : 'uint64';
    default:
      throw new Error(`no codec for fields of type ${type}`);
  }
}

function serviceOf(service: protobuf.Service): ServiceSchema {
  return {
    name: service.fullName.slice(1),
    methods: service.methodsArray.map((method) => ({
      name: method.name,
      clientStream: method.requestStream === true,
      serverStream: method.responseStream === true,
    })),
  };
}

/** `etcdserverpb.RangeRequest.SortOrder` is SortOrder of RangeRequest: RangeRequestSortOrder. */
function typeName(entry: protobuf.Type | protobuf.Enum): TypeName {
  const names: string[] = [entry.name];
  let parent = entry.parent;
  for (; parent instanceof protobuf.Type; parent = parent.parent) names.unshift(parent.name);
  return { package: (parent?.fullName ?? '').slice(1), name: names.join('') };
}

export const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const pascalCase = (name: string): string => camelCase(`_${name}`);
