import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ELSEWHERE, kubePlace } from '../src/kube/kube-key.ts';

test.each([
  ['/registry/pods/default/web-0', 'pods', 'default'],
  ['/registry/minions/node-1', 'minions', ''],
  ['/registry/namespaces/kube-system', 'namespaces', ''],
  ['/registry/services/specs/default/kubernetes', 'services/specs', 'default'],
  ['/registry/services/endpoints/default/kubernetes', 'services/endpoints', 'default'],
  ['/registry/apiregistration.k8s.io/apiservices/v1.', 'apiregistration.k8s.io/apiservices', ''],
  ['/registry/example.org/widgets/prod/w', 'example.org/widgets', 'prod'],
  ['/registry/example.org/widgets/prod/w/deeper', 'example.org/widgets', 'prod'],
  ['/registry/ranges/serviceips', 'ranges', ''],
  ['/registry/example.org/x', 'example.org', ''],
  ['/registry/health', ELSEWHERE, ''],
  ['/registry/', ELSEWHERE, ''],
  ['/registry//x', ELSEWHERE, ''],
  ['compact_rev_key', ELSEWHERE, ''],
  ['/registryx/pods/a/b', ELSEWHERE, ''],
])('%s is of %s in %j', (key, resource, namespace) => {
  expect(kubePlace(key, '/registry')).toEqual({ resource, namespace });
  expect(kubePlace(key, '/registry/')).toEqual({ resource, namespace });
});

test('the prefix may be another one, or none', () => {
  expect(kubePlace('/k3s/prod/pods/a/b', '/k3s/prod')).toEqual({ resource: 'pods', namespace: 'a' });
  expect(kubePlace('/a/b/c', '')).toEqual({ resource: 'a', namespace: 'b' });
});

test('any key has a place, with names of a bound', () => {
  fc.assert(
    fc.property(fc.string({ maxLength: 3000 }), (key) => {
      const { resource, namespace } = kubePlace(`/registry/${key}`, '/registry');
      expect(Math.max(resource.length, namespace.length)).toBeLessThanOrEqual(512);
      expect(resource).not.toBe('');
    }),
  );
});
