import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import protobuf from 'protobufjs';
import type { MessageSet } from './message-sets.ts';

/** How one value of a field is read and written. */
export type Kind =
  | 'bool'
  | 'bytes'
  | 'string'
  | 'lenient-string'
  | 'int32'
  | 'uint32'
  | 'int64'
  | 'uint64'
  | 'count'
  | 'exact-int64'
  | 'big-int64'
  | 'big-uint64'
  | 'message';

export interface Field {
  readonly name: string;
  /** Its name in the .proto file. */
  readonly proto: string;
  readonly number: number;
  readonly kind: Kind;
  readonly repeated: boolean;
  /** The names of the other fields of its oneof; undefined if it is in none. */
  readonly rivals: readonly string[] | undefined;
  /** The message's type, if the kind is message. */
  readonly type: TypeName | undefined;
  /** The enum whose number the value is, if it is one. */
  readonly enum?: TypeName | undefined;
}

/** A message or enum: its package, and its name in the package, prefixed with the names of its parents. */
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

export interface Schema {
  readonly messages: readonly MessageSchema[];
  readonly enums: readonly EnumSchema[];
}

const protoFolder = join(import.meta.dirname, '../../../proto');

/** The .proto files of the set, parsed and resolved. */
export function loadRoot(set: MessageSet): protobuf.Root {
  const root = new protobuf.Root();
  for (const { text } of protoFiles(set.files)) protobuf.parse(text, root, { keepCase: true });
  root.resolveAll();
  return root;
}

/** The .proto files that a pattern matches, with their paths below proto/, in order. */
export const protoFiles = (pattern: string): readonly { readonly path: string; readonly text: string }[] =>
  globSync(pattern, { cwd: protoFolder })
    .toSorted()
    .map((path) => ({ path, text: readFileSync(join(protoFolder, path), 'utf8') }));

/** Throws if the set names fields that its files do not have. */
export function readSchema(set: MessageSet, root: protobuf.Root): Schema {
  return new SchemaReader(set).read(root);
}

class SchemaReader {
  readonly #set: MessageSet;
  readonly #messages: MessageSchema[] = [];
  readonly #enums: EnumSchema[] = [];
  /** Entries of the set's lists that no field has matched yet. */
  readonly #unmatched: Set<string>;

  constructor(set: MessageSet) {
    this.#set = set;
    this.#unmatched = new Set([...set.bigints, ...set.notBigints, ...set.exact]);
  }

  read(root: protobuf.Root): Schema {
    this.#visit(root);
    if (this.#unmatched.size > 0) {
      throw new Error(`${this.#set.name}: no 64-bit field matches ${[...this.#unmatched].join(', ')}`);
    }
    return { messages: this.#messages, enums: this.#enums };
  }

  #visit(namespace: protobuf.NamespaceBase): void {
    for (const entry of namespace.nestedArray) {
      if (entry instanceof protobuf.Type) this.#addMessage(entry);
      else if (entry instanceof protobuf.Enum) this.#enums.push({ ...typeName(entry), values: entry.values });
      if (entry instanceof protobuf.Namespace) this.#visit(entry);
    }
  }

  /** Adds a message and the entry messages of its maps. On the wire a map is a list of entries with a key and a value. */
  #addMessage(type: protobuf.Type): void {
    const name = typeName(type);
    const fields = type.fieldsArray.map((field): Field => {
      if (!(field instanceof protobuf.MapField)) return this.#field(field);
      const entry = { package: name.package, name: `${name.name}${pascalCase(field.name)}Entry` };
      const part = { repeated: false, rivals: undefined };
      this.#messages.push({
        ...entry,
        fields: [
          {
            name: 'key',
            proto: 'key',
            number: 1,
            kind: this.#scalarKind(field.keyType, undefined),
            type: undefined,
            ...part,
          },
          { name: 'value', proto: 'value', number: 2, ...this.#kind(field), ...part },
        ],
      });
      return {
        name: fieldName(this.#set, field.name),
        proto: field.name,
        number: field.id,
        kind: 'message',
        repeated: true,
        rivals: undefined,
        type: entry,
      };
    });
    this.#messages.push({ ...name, fields: fields.toSorted((left, right) => left.number - right.number) });
  }

  #field(field: protobuf.Field): Field {
    const rivals = field.partOf?.fieldsArray.filter((other) => other !== field);
    return {
      name: fieldName(this.#set, field.name),
      proto: field.name,
      number: field.id,
      ...this.#kind(field),
      repeated: field.repeated,
      rivals: rivals?.map((other) => fieldName(this.#set, other.name)),
    };
  }

  #kind(field: protobuf.Field): Pick<Field, 'kind' | 'type' | 'enum'> {
    if (field.resolvedType instanceof protobuf.Type) return { kind: 'message', type: typeName(field.resolvedType) };
    if (field.resolvedType instanceof protobuf.Enum) {
      return { kind: this.#scalarKind('int32', field), type: undefined, enum: typeName(field.resolvedType) };
    }
    return { kind: this.#scalarKind(field.type, field), type: undefined };
  }

  #scalarKind(type: string, field: protobuf.Field | undefined): Kind {
    switch (type) {
      case 'bool':
      case 'bytes':
      case 'int32':
      case 'uint32':
        return type;
      case 'string':
        return this.#set.strings;
      case 'int64':
      case 'uint64':
        if (field !== undefined && this.#isBigint(field)) return `big-${type}`;
        if (field !== undefined && this.#isExact(field)) return 'exact-int64';
        return this.#set.integers64 === 'count' ? 'count' : type;
      default:
        throw new Error(`no codec for fields of type ${type}`);
    }
  }

  #isBigint(field: protobuf.Field): boolean {
    const path = field.fullName.slice(1);
    let found = false;
    for (const entry of this.#set.bigints) {
      if (entry.startsWith('*') ? !field.name.endsWith(entry.slice(1)) : entry !== path && entry !== field.name) {
        continue;
      }
      this.#unmatched.delete(entry);
      found = true;
    }
    if (!found || !this.#set.notBigints.includes(path)) return found;
    this.#unmatched.delete(path);
    return false;
  }

  #isExact(field: protobuf.Field): boolean {
    const path = field.fullName.slice(1);
    this.#unmatched.delete(path);
    return this.#set.exact.includes(path);
  }
}

/** `etcdserverpb.RangeRequest.SortOrder` becomes RangeRequestSortOrder. */
function typeName(entry: protobuf.Type | protobuf.Enum): TypeName {
  const names: string[] = [entry.name];
  let parent = entry.parent;
  for (; parent instanceof protobuf.Type; parent = parent.parent) names.unshift(parent.name);
  return { package: (parent?.fullName ?? '').slice(1), name: names.join('') };
}

/** The TypeScript name of a field. */
export function fieldName(set: MessageSet, name: string): string {
  const joined = camelCase(name);
  if (set.fieldNames === 'as-written') return joined;
  return /^[A-Z]+$/.test(joined) ? joined.toLowerCase() : joined[0]!.toLowerCase() + joined.slice(1);
}

const camelCase = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
const pascalCase = (name: string): string => camelCase(`_${name}`);
