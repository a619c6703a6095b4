import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

type Schema = { [key: string]: unknown };
interface GroupVersionKind {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}
const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Unknown fields are wrong, quantities and ports may be numbers or text. */
function strict(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(strict);
  if (!isObject(value)) return value;
  const schema: Schema = {};
  for (const [key, each] of Object.entries(value)) {
    if (key === '$ref' && typeof each === 'string')
      schema[key] = each.replace('#/definitions/', '_definitions.json#/definitions/');
    else schema[key] = strict(each);
  }
  if (schema['format'] === 'int-or-string' || schema['x-kubernetes-int-or-string'] === true)
    return { oneOf: [{ type: 'string' }, { type: 'integer' }] };
  const open = schema['additionalProperties'] !== undefined || schema['x-kubernetes-preserve-unknown-fields'] === true;
  if (isObject(schema['properties']) && !open) schema['additionalProperties'] = false;
  return schema;
}

/** Writes the schemas of Kubernetes' own kinds, from its OpenAPI document, in kubeconform's names. */
export function writeKubernetesSchemas(kubernetes: string, folder: string): number {
  mkdirSync(folder, { recursive: true });
  const swagger: { readonly definitions: Readonly<Record<string, Schema>> } = JSON.parse(
    readFileSync(join(kubernetes, 'api/openapi-spec/swagger.json'), 'utf8'),
  );
  const definitions = strict(swagger.definitions) as Record<string, Schema>;
  definitions['io.k8s.apimachinery.pkg.api.resource.Quantity'] = { oneOf: [{ type: 'string' }, { type: 'number' }] };
  writeFileSync(join(folder, '_definitions.json'), JSON.stringify({ definitions }));
  let count = 0;
  for (const [name, definition] of Object.entries(swagger.definitions)) {
    const kinds = (definition['x-kubernetes-group-version-kind'] ?? []) as readonly GroupVersionKind[];
    if (kinds.length !== 1) continue;
    writeSchema(folder, kinds[0]!, { $ref: `_definitions.json#/definitions/${name}` });
    count += 1;
  }
  return count;
}

/** Writes the schemas of the kinds that the definitions of a folder add to a cluster. */
export function writeCustomSchemas(definitions: string, folder: string): number {
  let count = 0;
  for (const file of readdirSync(definitions).filter((name) => name.endsWith('.yaml'))) {
    for (const document of parseAllDocuments(readFileSync(join(definitions, file), 'utf8'))) {
      const { kind, spec } = document.toJS() ?? {};
      if (kind !== 'CustomResourceDefinition') continue;
      for (const { name, schema } of spec.versions) {
        const strictSchema = strict(schema.openAPIV3Schema) as Schema;
        const metadata = { metadata: { type: 'object' } };
        writeSchema(
          folder,
          { group: spec.group, version: name, kind: spec.names.kind },
          { ...strictSchema, properties: { ...(strictSchema['properties'] as Schema), ...metadata } },
        );
        count += 1;
      }
    }
  }
  return count;
}

function writeSchema(folder: string, { group, version, kind }: GroupVersionKind, schema: Schema): void {
  const suffix = [group.split('.')[0], version].filter((each) => each !== '').join('-');
  writeFileSync(join(folder, `${kind}-${suffix}.json`.toLowerCase()), JSON.stringify(schema));
}
