import { fileName, HEADING, namespaceName } from './emit.ts';
import type { Field, Kind, MessageSchema, Schema, TypeName } from './schema.ts';

/** The form of a scalar: see `JsonScalar` of the runtime. */
const scalars: Readonly<Record<Exclude<Kind, 'message'>, string>> = {
  bool: 'bool',
  bytes: 'bytes',
  string: 'string',
  'lenient-string': 'string',
  int32: 'int32',
  uint32: 'uint32',
  int64: 'int64-number',
  uint64: 'uint64-number',
  count: 'int64-number',
  'exact-int64': 'int64-exact',
  'big-int64': 'int64-big',
  'big-uint64': 'uint64-big',
};

/** Maps file names to modules with a table for each message of these packages: see `JsonMessage`. */
export function emitJson({ messages }: Schema, packages: readonly string[]): Map<string, string> {
  const files = new Map<string, string>();
  for (const name of packages) {
    const mine = messages.filter((message) => message.package === name);
    if (mine.length === 0) throw new Error(`no package ${name}`);
    files.set(`${fileName(name)}-json.ts`, emitPackage(name, mine, packages));
  }
  return files;
}

function emitPackage(name: string, messages: readonly MessageSchema[], packages: readonly string[]): string {
  const types = messages.flatMap(({ fields }) =>
    fields.flatMap((field) => [field.type ?? [], field.enum ?? []].flat()),
  );
  const others = [...new Set(types.map((type) => type.package))].filter((other) => other !== name).toSorted();
  for (const other of others) if (!packages.includes(other)) throw new Error(`${name} needs the JSON of ${other}`);
  const imports = [
    "import type { JsonMessage } from '@engram/protobuf';",
    `import * as ${namespaceName(name)} from './${fileName(name)}.ts';`,
    ...others.flatMap((other) => [
      ...(types.some((type) => type.package === other && messagesOf(messages, other).includes(type.name))
        ? [`import * as ${jsonName(other)} from './${fileName(other)}-json.ts';`]
        : []),
      ...(messages.some(({ fields }) => fields.some((field) => field.enum?.package === other))
        ? [`import * as ${namespaceName(other)} from './${fileName(other)}.ts';`]
        : []),
    ]),
  ];
  return `${HEADING}\n${imports.join('\n')}\n\n${messages.map((message) => emitMessage(message)).join('\n')}`;
}

const jsonName = (packageName: string): string => `${namespaceName(packageName)}Json`;

const messagesOf = (messages: readonly MessageSchema[], other: string): readonly string[] =>
  messages.flatMap(({ fields }) => fields.flatMap(({ type }) => (type?.package === other ? [type.name] : [])));

function emitMessage({ package: own, name, fields }: MessageSchema): string {
  const lines = fields.map((field) => `    ${emitField(field, own)},\n`).join('');
  return `export const ${name}Json: JsonMessage = {
  fresh: ${namespaceName(own)}.new${name},
  fields: [\n${lines}  ],
};
`;
}

function emitField(field: Field, own: string): string {
  const { proto, name, number, repeated, rivals } = field;
  const more = [
    ...(repeated ? [', repeated: true'] : []),
    ...(rivals === undefined ? [] : [`, rivals: [${rivals.map((rival) => `'${rival}'`).join(', ')}]`]),
  ];
  return `{ proto: '${proto}', name: '${name}', number: ${number}, type: ${typeSource(field, own)}${more.join('')} }`;
}

function typeSource(field: Field, own: string): string {
  if (field.enum !== undefined) return `${namespaceName(field.enum.package)}.${field.enum.name}`;
  if (field.kind !== 'message') return `'${scalars[field.kind]}'`;
  const { package: other, name }: TypeName = field.type!;
  return `() => ${other === own ? '' : `${jsonName(other)}.`}${name}Json`;
}
