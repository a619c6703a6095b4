import { type KubeValue, kubeValue } from '../kube/kube-value.ts';
import { counted, shownBytes, shownText, sizeText } from '../print/shown.ts';
import { tableText } from '../print/table.ts';
import type { StoreContent, StoredKey } from './stored-key.ts';
import { bytesOf, type Counts, formName, type ResourceTally, type Tally } from './tally.ts';

export interface TreeOptions {
  /** Resources, and namespaces of each, that are shown. The others are counted together. */
  readonly top: number;
  readonly hex: boolean;
}

type Head = Pick<StoreContent, 'name' | 'revision' | 'compactRevision'>;

const summary = ({ keys, keyBytes, valueBytes, changes }: Counts): string =>
  `${counted(keys, 'key')}, ${sizeText(keyBytes + valueBytes)}, ${counted(changes, 'change')}`;

const history = ({ oldVersions, oldBytes, deletions }: Counts): string =>
  oldVersions === 0
    ? ''
    : `, history ${counted(oldVersions, 'version')} (${counted(deletions, 'deletion')}), ${sizeText(oldBytes)}`;

/** A tree of resources and namespaces, the largest first. */
export function treeText(head: Head, tally: Tally, { top, hex }: TreeOptions): string {
  const { total, resources } = tally;
  const compacted = head.compactRevision === undefined ? '' : `, compacted at ${head.compactRevision}`;
  return [
    `${head.name}: revision ${head.revision}${compacted}, ${summary(total)}${history(total)}\n`,
    ...branches(resources, top, ({ resource, counts }) => [resource, counts]).map(
      ({ item, name, counts, mark, indent }) =>
        item === undefined
          ? `${mark} ${name}: ${summary(counts)}${history(counts)}\n`
          : `${mark} ${resourceText(item, hex)}${namespacesText(item, top, indent)}`,
    ),
  ].join('');
}

function resourceText({ resource, counts, forms, kinds, largest }: ResourceTally, hex: boolean): string {
  const formTexts = [...forms].map(([form, keys]) =>
    forms.size === 1 ? shownText(form) : `${shownText(form)} ${keys}`,
  );
  const what = [...kinds].map((kind) => shownText(kind, 80)).join(', ');
  const most = largest === undefined ? '' : `, largest ${sizeText(largest.valueBytes)} ${shownBytes(largest.key, hex)}`;
  return `${shownText(resource)}: ${summary(counts)}${history(counts)} [${[formTexts.join(', '), what].filter((text) => text !== '').join('; ')}]${most}\n`;
}

function namespacesText({ namespaces }: ResourceTally, top: number, indent: string): string {
  if (namespaces.size === 1 && namespaces.has('')) return '';
  const sorted = [...namespaces].toSorted(([, left], [, right]) => bytesOf(right) - bytesOf(left));
  return branches(sorted, top, (item) => item)
    .map(({ name, counts, mark }) => {
      const shown = name === '' ? '(cluster)' : shownText(name);
      return `${indent}${mark} ${shown}: ${summary(counts)}${history(counts)}\n`;
    })
    .join('');
}

interface Branch<Item> {
  /** Absent for the one that counts the rest. */
  readonly item: Item | undefined;
  readonly name: string;
  readonly counts: Counts;
  readonly mark: string;
  readonly indent: string;
}

/** The first items, and one for all the others together. */
function branches<Item>(
  items: readonly Item[],
  top: number,
  named: (item: Item) => readonly [name: string, counts: Counts],
): readonly Branch<Item>[] {
  const shown = items.slice(0, top);
  const rest = items.slice(top).map((item) => named(item)[1]);
  const lines = shown.map((item) => {
    const [name, counts] = named(item);
    return { item, name, counts };
  });
  const all: readonly { item: Item | undefined; name: string; counts: Counts }[] =
    rest.length === 0 ? lines : [...lines, { item: undefined, name: `${rest.length} more`, counts: sumOf(rest) }];
  return all.map((line, at) => {
    const isLast = at === all.length - 1;
    return { ...line, mark: isLast ? '└─' : '├─', indent: isLast ? '   ' : '│  ' };
  });
}

function sumOf(all: readonly Counts[]): Counts {
  const [first, ...others] = all;
  const sum = { ...first! };
  for (const counts of others) {
    for (const name of Object.keys(sum) as (keyof Counts)[]) sum[name] += counts[name];
  }
  return sum;
}

/** A row for each resource and namespace. */
export function treeTable(tally: Tally, { top }: TreeOptions): string {
  const heads = [
    'RESOURCE',
    'NAMESPACE',
    'KEYS',
    'KEY BYTES',
    'VALUE BYTES',
    'CHANGES',
    'LEASED',
    'OLD VERSIONS',
    'OLD BYTES',
  ];
  const row = (resource: string, namespace: string, counts: Counts): readonly string[] => [
    shownText(resource, 60),
    shownText(namespace, 60),
    ...[
      counts.keys,
      counts.keyBytes,
      counts.valueBytes,
      counts.changes,
      counts.leased,
      counts.oldVersions,
      counts.oldBytes,
    ].map(String),
  ];
  const rows = tally.resources.slice(0, top).flatMap(({ resource, counts, namespaces }) => [
    row(resource, '(all)', counts),
    ...[...namespaces]
      .filter(([namespace]) => namespace !== '')
      .toSorted(([, left], [, right]) => bytesOf(right) - bytesOf(left))
      .slice(0, top)
      .map(([namespace, each]) => row(resource, namespace, each)),
  ]);
  return tableText(heads, [...rows, row('(total)', '', tally.total)]);
}

/** Everything that was counted, nothing left out. */
export function treeJson(head: Head, tally: Tally): object {
  return {
    ...head,
    total: tally.total,
    resources: tally.resources.map(({ resource, counts, namespaces, forms, kinds, largest }) => ({
      resource,
      ...counts,
      forms: Object.fromEntries(forms),
      kinds: [...kinds],
      ...(largest === undefined
        ? {}
        : { largest: { key: Buffer.from(largest.key).toString('base64'), valueBytes: largest.valueBytes } }),
      namespaces: [...namespaces].map(([namespace, each]) => ({ namespace, ...each })),
    })),
  };
}

/** One line for a key: what its value is. */
export function keyLine(stored: StoredKey, hex: boolean): string {
  const { key, value, version, modRevision, createRevision, lease } = stored;
  const leased = lease === 0n ? '' : ` lease ${lease.toString(16)}`;
  return `${shownBytes(key, hex)} ${valueText(kubeValue(value))} ${sizeText(value.length)} version ${version} created ${createRevision} modified ${modRevision}${leased}\n`;
}

function valueText(value: KubeValue): string {
  switch (value.form) {
    case 'protobuf': {
      const content = value.contentType === '' ? '' : ` ${shownText(value.contentType)}`;
      const encoding = value.contentEncoding === '' ? '' : ` ${shownText(value.contentEncoding)}`;
      return `protobuf ${objectText(value)}${content}${encoding}`;
    }
    case 'json':
      return `json ${objectText(value)}`;
    case 'damaged':
      return `damaged (${shownText(value.why)})`;
    default:
      return shownText(formName(value));
  }
}

function objectText({ apiVersion, kind, meta }: Extract<KubeValue, { form: 'protobuf' | 'json' }>): string {
  const type = `${shownText(apiVersion, 80)} ${shownText(kind, 80)}`;
  if (meta === undefined) return type;
  return `${type} ${meta.namespace === '' ? '' : `${shownText(meta.namespace)}/`}${shownText(meta.name)} uid ${shownText(meta.uid, 80)}`;
}

/** The same as an object: the key in base64, as etcdctl's JSON has it. */
export function keyJson({ key, value, ...rest }: StoredKey): object {
  const { createRevision, modRevision, version, lease } = rest;
  return {
    key: Buffer.from(key).toString('base64'),
    valueBytes: value.length,
    createRevision,
    modRevision,
    version,
    lease,
    value: kubeValue(value),
  };
}
