/** Where an object is: `/registry/<resource>/<namespace>/<name>`, the resource with its group where the apiserver writes one. */
export interface KubePlace {
  readonly resource: string;
  /** Empty for objects of the cluster. */
  readonly namespace: string;
}

/** The place of what is outside of the prefix, or right below it. */
export const ELSEWHERE = '(other keys)';

const NAME_MAX = 512;

/**
 * The place that a key names. `prefix` is the apiserver's --etcd-prefix, "/registry". Custom resources and aggregated ones have
 * their group before the resource, which has a dot; of the others `services` alone has two segments (specs and endpoints).
 */
export function kubePlace(key: string, prefix: string): KubePlace {
  const within = `${prefix.replace(/\/+$/, '')}/`;
  if (!key.startsWith(within)) return { resource: ELSEWHERE, namespace: '' };
  const segments = key.slice(within.length).split('/');
  const [first = '', second = ''] = segments;
  const hasGroup = segments.length > 2 && (first.includes('.') || first === 'services');
  const resource = hasGroup ? `${first}/${second}` : first;
  const behind = segments.slice(hasGroup ? 2 : 1);
  if (behind.length === 0 || first === '') return { resource: ELSEWHERE, namespace: '' };
  const namespace = behind.length > 1 ? behind[0]! : '';
  return { resource: resource.slice(0, NAME_MAX), namespace: namespace.slice(0, NAME_MAX) };
}
