/**
 * Remakes src/proto/gen from proto/: run `node packages/tikv-client/tools/generate.ts`. test/proto.test.ts checks that
 * the generated files are fresh.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import protobuf from 'protobufjs';

const files = ['metapb', 'errorpb', 'kvrpcpb', 'pdpb', 'tikvpb'] as const;
type File = (typeof files)[number];

/** Fields that use all 64 bits, or whose values are timestamps. Every other 64-bit field is a checked number. */
const wideNames = new Set([
  'version',
  'start_version',
  'commit_version',
  'max_version',
  'lock_version',
  'cluster_id',
  'member_id',
  'safe_point',
  'new_safe_point',
  'last_heartbeat',
  'start_timestamp',
  'min_safe_point',
  'txn_safe_point',
  'gc_safe_point',
  'target',
  'TTL',
  'txn_size',
  'txn',
  'status',
  'resolved_locks',
  'committed_locks',
  'gc_fence',
  'trace_control_flags',
  'feedback_seq_no',
  'old_gc_safe_point',
  'new_gc_safe_point',
  'old_txn_safe_point',
  'new_txn_safe_point',
  'sender_id',
  'tikv_send_time_ns',
  'client_send_time_ns',
  'ttl_seconds',
  'txn_source',
  'rollback_ts',
]);
const isWide = (message: string, field: string): boolean =>
  (field.endsWith('_ts') || wideNames.has(field)) &&
  !(message === 'RegionEpoch' || message === 'BucketVersionNotMatch');

const camel = (name: string): string => {
  const joined = name.replace(/_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());
  return /^[A-Z]+$/.test(joined) ? joined.toLowerCase() : joined[0]!.toLowerCase() + joined.slice(1);
};

const root = new protobuf.Root();
for (const file of files) {
  const text = readFileSync(fileURLToPath(new URL(`../proto/${file}.proto`, import.meta.url)), 'utf8');
  protobuf.parse(text, root, { keepCase: true });
}
root.resolveAll();

interface Kind {
  /** Of the decoded field. */
  readonly type: string;
  readonly init: string;
  readonly wire: 0 | 2;
  readonly empty: string;
  readonly read: string;
  readonly write: (value: string) => string;
  readonly isEmpty: (value: string) => string;
  readonly nested: boolean;
}

const fileOf = (type: protobuf.ReflectionObject): File => {
  let at: protobuf.ReflectionObject | null = type;
  while (at.parent !== null && at.parent !== root) at = at.parent;
  return at.name as File;
};
/** Nested types carry their parent's name in front: BatchCommandsRequestRequest. */
const nameOf = (type: protobuf.ReflectionObject): string =>
  type.parent instanceof protobuf.Type ? nameOf(type.parent) + type.name : type.name;

function kindOf(field: protobuf.Field, file: File, message: string): Kind {
  const scalar = (type: string, empty: string, method: string, write = method): Kind => ({
    type,
    init: type,
    wire: 0,
    empty,
    nested: false,
    read: `r.${method}()`,
    write: (v) => `w.${write}(${v})`,
    isEmpty: (v) => `${v} === ${empty}`,
  });
  const type = field.resolvedType;
  if (type instanceof protobuf.Enum) return scalar('number', '0', 'int32');
  if (type instanceof protobuf.Type) {
    const other = fileOf(type);
    const prefix = other === file ? '' : `${other}.`;
    const name = nameOf(type);
    return {
      type: `${prefix}${name}`,
      init: `${prefix}${name}Init`,
      wire: 2,
      empty: 'undefined',
      nested: true,
      read: `${prefix}read${name}(r, r.limit())`,
      write: (v) => `${prefix}write${name}(w, ${v})`,
      isEmpty: (v) => `${v} === undefined`,
    };
  }
  switch (field.type) {
    case 'bool':
      return {
        ...scalar('boolean', 'false', 'uint32'),
        read: 'r.uint32() !== 0',
        write: () => 'w.varint(1)',
        isEmpty: (v) => `!${v}`,
      };
    case 'uint32':
      return scalar('number', '0', 'uint32', 'varint');
    case 'int32':
      return scalar('number', '0', 'int32');
    case 'uint64':
      return isWide(message, field.name)
        ? scalar('bigint', '0n', 'uint64', 'varint64')
        : scalar('number', '0', 'count', 'varint');
    case 'int64':
      return isWide(message, field.name)
        ? scalar('bigint', '0n', 'int64', 'varint64')
        : scalar('number', '0', 'count', 'varint');
    case 'bytes':
      return {
        type: 'Uint8Array',
        init: 'Uint8Array',
        wire: 2,
        empty: 'EMPTY_BYTES',
        nested: false,
        read: 'r.bytes()',
        write: (v) => `w.bytes(${v})`,
        isEmpty: (v) => `${v}.length === 0`,
      };
    case 'string':
      return {
        type: 'string',
        init: 'string',
        wire: 2,
        empty: "''",
        nested: false,
        read: 'r.text()',
        write: (v) => `w.text(${v})`,
        isEmpty: (v) => `${v} === ''`,
      };
    default:
      throw new Error(`no kind for ${field.type}`);
  }
}

function messageSource(type: protobuf.Type, file: File): string {
  const name = nameOf(type);
  const fields = [...type.fieldsArray].sort((left, right) => left.id - right.id);
  const out: string[] = [];
  const kinds = fields.map((field) => ({
    field,
    kind: kindOf(field, file, type.name),
    name: camel(field.name),
    optional: field.partOf !== null,
  }));
  out.push(`export interface ${name} {`);
  for (const { field, kind, name: own, optional } of kinds) {
    out.push(
      `  readonly ${own}: ${field.repeated ? `readonly ${kind.type}[]` : kind.nested || optional ? `${kind.type} | undefined` : kind.type};`,
    );
  }
  out.push('}', `export interface ${name}Init {`);
  for (const { field, kind, name: own } of kinds) {
    out.push(`  readonly ${own}?: ${field.repeated ? `readonly ${kind.init}[]` : kind.init} | undefined;`);
  }
  out.push(
    '}',
    `export function write${name}(${kinds.length ? 'w' : '_w'}: Writer, ${kinds.length ? 'm' : '_m'}: ${name}Init): void {`,
  );
  for (const { field, kind, name: own, optional } of kinds.toReversed()) {
    const v = `m.${own}`;
    const tag = (field.id << 3) | kind.wire;
    if (field.repeated) {
      out.push(`  if (${v} !== undefined && ${v}.length > 0) {`);
      if (kind.wire === 0) {
        out.push(
          `    const end = w.length;`,
          `    for (let i = ${v}.length - 1; i >= 0; i -= 1) ${kind.write(`${v}[i]!`)};`,
          '    w.varint(w.length - end);',
          `    w.varint(${(field.id << 3) | 2});`,
        );
      } else if (kind.nested) {
        out.push(
          `    for (let i = ${v}.length - 1; i >= 0; i -= 1) {`,
          '      const end = w.length;',
          `      ${kind.write(`${v}[i]!`)};`,
          '      w.varint(w.length - end);',
          `      w.varint(${tag});`,
          '    }',
        );
      } else {
        out.push(
          `    for (let i = ${v}.length - 1; i >= 0; i -= 1) {`,
          `      ${kind.write(`${v}[i]!`)};`,
          `      w.varint(${tag});`,
          '    }',
        );
      }
      out.push('  }');
    } else if (kind.nested) {
      out.push(
        `  if (${v} !== undefined) {`,
        '    const end = w.length;',
        `    ${kind.write(v)};`,
        '    w.varint(w.length - end);',
        `    w.varint(${tag});`,
        '  }',
      );
    } else {
      out.push(
        `  if (${v} !== undefined${optional ? '' : ` && !(${kind.isEmpty(v)})`}) {`,
        `    ${kind.write(v)};`,
        `    w.varint(${tag});`,
        '  }',
      );
    }
  }
  out.push('}', `export function read${name}(r: Reader, end: number): ${name} {`);
  for (const { field, kind, name: own, optional } of kinds) {
    if (field.repeated) out.push(`  let ${own}: ${kind.type}[] | undefined;`);
    else if (kind.nested || optional) out.push(`  let ${own}: ${kind.type} | undefined;`);
    else out.push(`  let ${own}${kind.type === 'Uint8Array' ? ': Uint8Array' : ''} = ${kind.empty};`);
  }
  out.push('  while (r.at < end) {', '    const tag = r.uint32();', '    switch (tag) {');
  for (const { field, kind, name: own } of kinds) {
    out.push(`      case ${(field.id << 3) | kind.wire}:`);
    out.push(
      field.repeated ? `        (${own} ??= []).push(${kind.read});` : `        ${own} = ${kind.read};`,
      '        break;',
    );
    if (field.repeated && kind.wire === 0) {
      out.push(
        `      case ${(field.id << 3) | 2}: {`,
        `        ${own} ??= [];`,
        `        for (const limit = r.limit(); r.at < limit; ) ${own}.push(${kind.read});`,
        '        break;',
        '      }',
      );
    }
  }
  out.push('      default:', '        r.skip(tag);', '    }', '  }');
  out.push("  if (r.at !== end) throw new MalformedMessage('a field runs past the end of its message');");
  out.push(
    `  return { ${kinds.map(({ field, name: own }) => (field.repeated ? `${own}: ${own} ?? NONE` : own)).join(', ')} };`,
    '}',
  );
  out.push(`export const ${name}Codec: Codec<${name}, ${name}Init> = { write: write${name}, read: read${name} };`, '');
  return out.join('\n');
}

function fileSource(file: File): string {
  const body: string[] = [];
  const visit = (namespace: protobuf.NamespaceBase): void => {
    for (const nested of namespace.nestedArray) {
      if (nested instanceof protobuf.Enum) {
        const entries = Object.entries(nested.values).map(([key, value]) => `${key}: ${value}`);
        body.push(`export const ${nameOf(nested)} = { ${entries.join(', ')} } as const;\n`);
      } else if (nested instanceof protobuf.Type) {
        visit(nested);
        body.push(messageSource(nested, file));
      }
    }
  };
  visit(root.lookup(file) as protobuf.Namespace);
  const text = body.join('\n');
  const others = files.filter((other) => other !== file && text.includes(`${other}.`));
  const head = [
    `// Generated from proto/${file}.proto by tools/generate.ts. Do not edit.`,
    ...(text.includes('EMPTY_BYTES') ? ["import { EMPTY_BYTES } from '@engram/core';"] : []),
    `import { type Codec${text.includes('NONE') ? ', NONE' : ''} } from '../codec.ts';`,
    "import { MalformedMessage, type Reader } from '../reader.ts';",
    "import type { Writer } from '../writer.ts';",
    ...others.map((other) => `import * as ${other} from './${other}.ts';`),
    '',
  ];
  return `${head.join('\n')}\n${text}`;
}

/** What each generated file must hold. */
export const generated: Readonly<Record<string, string>> = Object.fromEntries(
  files.map((file) => [fileURLToPath(new URL(`../src/proto/gen/${file}.ts`, import.meta.url)), fileSource(file)]),
);

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const [path, text] of Object.entries(generated)) writeFileSync(path, text);
}
