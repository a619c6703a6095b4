/** Values for which the chart is linted, rendered by both versions of Helm, and checked. */
export const cases: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  defaults: {},
  'one member with everything': {
    image: { registry: 'registry.example', digest: `sha256:${'a'.repeat(64)}`, pullSecrets: ['pull'] },
    commonLabels: { team: 'storage' },
    commonAnnotations: { note: 'x' },
    autoCompactionRetention: '1h',
    quotaBackendBytes: 8_589_934_592,
    memoryLimitBytes: '1073741824',
    extraFlags: ['--max-txn-ops=1024'],
    extraEnvVars: [{ name: 'TZ', value: 'UTC' }],
    extraEnvVarsCM: 'more',
    extraEnvVarsSecret: 'secrets',
    auth: {
      certificates: { source: 'cert-manager', certManager: { issuerName: 'ca' }, altNames: ['etcd.example'] },
      client: { secureTransport: true, enableAuthentication: true },
    },
    hostAliases: [{ ip: '127.0.0.2', hostnames: ['x'] }],
    lifecycleHooks: { preStop: { sleep: { seconds: 1 } } },
    extraVolumes: [{ name: 'more', emptyDir: {} }],
    extraVolumeMounts: [{ name: 'more', mountPath: '/more' }],
    extraVolumeClaimTemplates: [
      {
        metadata: { name: 'claim' },
        spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
      },
    ],
    initContainers: [{ name: 'init', image: 'init:1' }],
    sidecars: [{ name: 'side', image: 'side:1' }],
    podAnnotations: { a: 'b' },
    podLabels: { c: 'd' },
    podAntiAffinityPreset: 'hard',
    nodeSelector: { disk: 'fast' },
    tolerations: [{ key: 'control', operator: 'Exists' }],
    topologySpreadConstraints: [{ maxSkew: 1, topologyKey: 'zone', whenUnsatisfiable: 'ScheduleAnyway' }],
    schedulerName: 'other',
    priorityClassName: 'system-cluster-critical',
    runtimeClassName: 'gvisor',
    shareProcessNamespace: true,
    persistentVolumeClaimRetentionPolicy: { enabled: true },
    service: {
      type: 'LoadBalancer',
      nodePorts: { client: 32_379 },
      loadBalancerIP: '10.0.0.1',
      loadBalancerClass: 'x',
      loadBalancerSourceRanges: ['10.0.0.0/8'],
      externalIPs: ['10.0.0.2'],
      annotations: { e: 'f' },
    },
    networkPolicy: {
      allowExternal: false,
      allowExternalEgress: false,
      ingressNSMatchLabels: { name: 'monitoring' },
      ingressNSPodMatchLabels: { app: 'prometheus' },
      extraIngress: [{ ports: [{ port: 1 }] }],
      extraEgress: [{ ports: [{ port: 1 }] }],
    },
    persistence: {
      storageClass: 'fast',
      annotations: { g: 'h' },
      labels: { i: 'j' },
      selector: { matchLabels: { k: 'l' } },
    },
    disasterRecovery: { enabled: true, image: { repository: 'tools/etcdctl', tag: '3.7' } },
    metrics: {
      serviceMonitor: { enabled: true, additionalLabels: { release: 'x' } },
      podMonitor: { enabled: true },
      prometheusRule: { enabled: true, rules: [{ alert: 'Mine', expr: 'up == 0' }] },
      dashboards: { enabled: true },
    },
    pdb: { maxUnavailable: 1 },
    extraDeploy: [
      { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: '{{ .Release.Name }}-more' } },
      'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: {{ .Release.Name }}-text\n',
    ],
  },
  'three members on TiKV with given secrets': {
    replicaCount: 3,
    storage: { type: 'tikv' },
    tikv: {
      pdEndpoints: ['pd-0.pd:2379', 'pd-1.pd:2379'],
      prefix: 'kubernetes',
      tls: { existingSecret: 'tikv-client' },
    },
    auth: {
      client: { secureTransport: true, enableAuthentication: true, existingSecret: 'client' },
      peer: { secureTransport: true, existingSecret: 'peer' },
    },
    persistence: { enabled: false },
    networkPolicy: { allowExternalEgress: false },
  },
  'five members on a TiKV of tidb-operator, with generated certificates': {
    replicaCount: 5,
    storage: { type: 'tikv' },
    tikv: { cluster: { create: 'tidb-operator-v2' } },
    auth: {
      certificates: { source: 'generated' },
      client: { secureTransport: true },
      peer: { secureTransport: true },
    },
    pdb: { minAvailable: '51%' },
  },
  'three members on a TiKV of the older tidb-operator': {
    replicaCount: 3,
    storage: { type: 'tikv' },
    tikv: { cluster: { create: 'tidb-operator-v1' } },
    serviceAccount: { create: false },
    pdb: { create: false },
    networkPolicy: { enabled: false },
    podAntiAffinityPreset: 'none',
  },
};

/** Values that Helm refuses, and what it says. */
export const refusals: readonly (readonly [values: Readonly<Record<string, unknown>>, says: RegExp])[] = [
  [{ replicaCount: 2, storage: { type: 'tikv' } }, /replicaCount/],
  [{ replicaCount: 3 }, /more than one member needs storage.type=tikv/],
  [{ replicacount: 3 }, /replicacount/],
  [{ storage: { type: 'leveldb' } }, /storage/],
  [{ storage: { type: 'tikv' } }, /needs tikv.pdEndpoints/],
  [{ image: { tag: 1 } }, /tag/],
  [{ auth: { client: { secureTransport: true } } }, /auth.client.existingSecret/],
  [{ auth: { client: { enableAuthentication: true } } }, /needs auth.client.secureTransport/],
  [{ auth: { certificates: { source: 'cert-manager' }, client: { secureTransport: true } } }, /issuerName/],
  [{ disasterRecovery: { enabled: true } }, /disasterRecovery.image.repository/],
];

/** What deploy/manifests has, rendered in the namespace `engram`. */
export const manifests: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  'one-member': {},
  'three-members': {
    replicaCount: 3,
    storage: { type: 'tikv' },
    tikv: { pdEndpoints: ['PD-0:2379', 'PD-1:2379', 'PD-2:2379'], prefix: 'kubernetes' },
  },
};
