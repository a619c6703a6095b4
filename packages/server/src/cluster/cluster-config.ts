import type { ImagePolicy } from '@engram/member';
import type { SafePointOptions } from '@engram/storage-tikv';
import type { RevisionOrigin } from '@engram/tso';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';
import { imagePolicy, logSegmentBytes, memberSilentMaxMs, safePoint } from './image-flags.ts';
import { advertisedProblem, type InitialMember, parseInitialCluster } from './initial-cluster.ts';
import { checkReadable } from '../flags/readable-file.ts';
import type { CertificateFiles } from '../tls/self-signed-certificate.ts';
import type { SrvDiscovery } from './srv-discovery.ts';
import { type TlsBounds, tlsBounds } from '../tls/tls-bounds.ts';
import { refuseBothLists } from '../tls/tls-config.ts';
import { bindProblem, parseUrls, type ServeUrl } from '../flags/urls.ts';

/** 'auto' is a certificate that this member makes itself, valid for this many years. The files are PEM. */
export type PeerTlsConfig = { readonly bounds: TlsBounds } & (
  | { readonly kind: 'auto'; readonly years: number }
  | {
      readonly kind: 'files';
      readonly served: CertificateFiles;
      readonly dialed: CertificateFiles;
      readonly trustedCaFile: string | undefined;
      readonly clientCertAuth: boolean;
      /** See `PeerTls`. */
      readonly checkDialers: boolean;
      readonly crlFile: string | undefined;
      /** At most one of the two lists is set. Empty allows any name. */
      readonly allowedCommonNames: readonly string[];
      readonly allowedHostnames: readonly string[];
    }
);

/** The configuration of a cluster member on TiKV, besides that of every member. */
export interface ClusterConfig {
  readonly pdEndpoints: readonly string[];
  /** Distinguishes the clusters on one TiKV. */
  readonly prefix: string;
  readonly tikvTls: { readonly caPath?: string; readonly certPath?: string; readonly keyPath?: string } | undefined;
  readonly localValues: 'disk' | 'memory';
  readonly imagePolicy: ImagePolicy;
  readonly safePoint: Pick<SafePointOptions, 'retentionMs'>;
  /** A member that is silent for longer than this no longer delays a trim of the log. */
  readonly memberSilentMaxMs: number;
  readonly logSegmentBytes: number;
  readonly token: string;
  /** This member goes on alone: the others are lost. */
  readonly forceNewCluster: boolean;
  /** 0: never. */
  readonly corruptCheckMs: number;
  /** Only with the gate CompactHashCheck. */
  readonly compactHashCheckMs: number;
  readonly revisionOrigin: RevisionOrigin;
  /** From DNS or from --initial-cluster. */
  readonly initialMembers: readonly InitialMember[] | SrvDiscovery;
  readonly listenPeerUrls: readonly ServeUrl[];
  readonly peerTls: PeerTlsConfig | undefined;
  readonly heartbeatMs: number;
  readonly strictReconfig: boolean;
  readonly learnersMax: number;
  readonly preVote: boolean;
  /** Entries of Raft's log that have no effect. */
  readonly skippedEntries: readonly number[];
}

/** As `LogKeys` of storage-tikv takes it, which a node that is alone does not load. */
const PREFIX_BYTES_MAX = 256;

/** Flags that have an effect only with --storage=tikv. */
const tikvFlags = [
  'tikv-pd-endpoints',
  'tikv-prefix',
  'tikv-cacert',
  'tikv-cert',
  'tikv-key',
  'local-values',
  'image-every-bytes-min',
  'image-every-bytes-max',
  'image-bytes-per-second',
  'image-interval',
  'log-member-timeout',
  'log-segment-bytes',
  'tikv-gc-retention',
  'revision-origin',
] as const;

/** Flags that restrict which members may connect. A member does not start if they would have no effect. */
const restrictingPeerFlags = ['peer-cert-allowed-cn', 'peer-cert-allowed-hostname', 'peer-crl-file'] as const;

/** Flags that only members of a cluster read. */
const peerFlags: readonly string[] = [
  ...restrictingPeerFlags,
  'listen-peer-urls',
  'peer-cert-file',
  'peer-key-file',
  'peer-client-cert-auth',
  'peer-trusted-ca-file',
  'peer-client-cert-file',
  'peer-client-key-file',
  'peer-auto-tls',
  'strict-reconfig-check',
  'pre-vote',
  'max-learners',
  'force-new-cluster',
  'corrupt-check-time',
  'compact-hash-check-time',
  'skip-raft-entries',
];

/** Undefined if this member is alone, with its data on its own disk. Throws ConfigError. */
export function clusterConfig(
  values: FlagValues,
  name: string,
  advertisePeerUrls: readonly string[],
  warnings: string[],
): ClusterConfig | undefined {
  const discovery = srvDiscovery(values);
  if (values.text('storage') !== 'tikv') {
    if (discovery !== undefined) throw new ConfigError('--discovery-srv: a cluster needs --storage=tikv');
    const set = changedAmong(values, tikvFlags);
    if (set.length > 0) throw new ConfigError(`${set.join(' ')}: only with --storage=tikv`);
    const idle = changedAmong(values, peerFlags);
    if (idle.length > 0) warnings.push(`flags without effect on a node that is alone: ${idle.join(' ')}`);
    return undefined;
  }
  const pdEndpoints = values.list('tikv-pd-endpoints');
  if (pdEndpoints.length === 0) throw new ConfigError('--storage=tikv needs --tikv-pd-endpoints');
  const localValues = values.text('local-values');
  if (localValues !== 'disk' && localValues !== 'memory')
    throw new ConfigError(`--local-values=${localValues}: expected disk or memory`);
  const initialMembers = discovery ?? listedMembers(values, name, advertisePeerUrls);
  const token = values.text('initial-cluster-token');
  const listenPeerUrls = peerUrls(values);
  const policy = imagePolicy(values);
  return {
    pdEndpoints,
    prefix: tikvPrefix(values),
    tikvTls: tikvTls(values),
    localValues,
    imagePolicy: policy,
    memberSilentMaxMs: memberSilentMaxMs(values, policy),
    logSegmentBytes: logSegmentBytes(values),
    safePoint: safePoint(values),
    token,
    forceNewCluster: values.bool('force-new-cluster'),
    revisionOrigin: revisionOrigin(values.text('revision-origin')),
    initialMembers,
    listenPeerUrls,
    peerTls: peerTls(values, listenPeerUrls, warnings),
    heartbeatMs: values.number('heartbeat-interval'),
    strictReconfig: values.bool('strict-reconfig-check'),
    learnersMax: values.number('max-learners'),
    preVote: values.bool('pre-vote'),
    corruptCheckMs: values.durationMs('corrupt-check-time'),
    compactHashCheckMs: values.durationMs('compact-hash-check-time'),
    skippedEntries: skippedEntries(values.list('skip-raft-entries')),
  };
}

function skippedEntries(texts: readonly string[]): readonly number[] {
  const indexes = texts.map(Number);
  if (indexes.every((index) => Number.isSafeInteger(index) && index > 0)) return indexes;
  throw new ConfigError(`--skip-raft-entries=${texts.join()}: expected indexes`);
}

function revisionOrigin(text: string): RevisionOrigin {
  if (text === 'sequence' || text === 'timestamp') return text;
  throw new ConfigError(`--revision-origin=${text}: expected sequence or timestamp`);
}

function srvDiscovery(values: FlagValues): SrvDiscovery | undefined {
  const domain = values.text('discovery-srv');
  const serviceName = values.text('discovery-srv-name');
  if (domain === '') {
    if (serviceName !== '') throw new ConfigError('--discovery-srv-name needs --discovery-srv');
    return undefined;
  }
  if (values.text('initial-cluster') !== '') {
    throw new ConfigError(
      'multiple discovery or bootstrap flags are set. Choose one of "initial-cluster", "discovery-endpoints" or "discovery-srv"',
    );
  }
  return { domain, serviceName };
}

/** All members must derive the same ids from the same list. */
function listedMembers(values: FlagValues, name: string, own: readonly string[]): readonly InitialMember[] {
  const members = parseInitialCluster(name, values.text('initial-cluster'), own);
  if (typeof members === 'string') throw new ConfigError(members);
  const problem = advertisedProblem(name, members, own);
  if (problem !== undefined) throw new ConfigError(problem);
  return members;
}

function changedAmong(values: FlagValues, names: readonly string[]): readonly string[] {
  return values
    .changed()
    .filter(({ name }) => names.includes(name))
    .map(({ name }) => `--${name}`);
}

function peerUrls(values: FlagValues): readonly ServeUrl[] {
  const list = values.list('listen-peer-urls').join(',');
  const urls = parseUrls(list);
  const problem = typeof urls === 'string' ? urls : bindProblem(urls);
  if (typeof urls === 'string' || problem !== undefined)
    throw new ConfigError(`--listen-peer-urls ${JSON.stringify(list)}: ${problem}`);
  const socket = urls.find(({ path }) => path !== undefined);
  if (socket !== undefined) throw new ConfigError(`--listen-peer-urls: members meet over TCP, not at ${socket.text}`);
  return urls;
}

function peerTls(values: FlagValues, urls: readonly ServeUrl[], warnings: string[]): PeerTlsConfig | undefined {
  warnings.push(...plainUrlWarnings(values, urls));
  const served = certificateFiles(values, 'peer-cert-file', 'peer-key-file');
  const dialed = certificateFiles(values, 'peer-client-cert-file', 'peer-client-key-file');
  if (served === undefined) {
    if (dialed !== undefined) throw new ConfigError('--peer-client-cert-file needs --peer-cert-file');
    if (values.bool('peer-auto-tls')) return autoPeerTls(values);
    const restricting = changedAmong(values, restrictingPeerFlags);
    if (restricting.length > 0) throw new ConfigError(`${restricting.join(' ')}: only with --peer-cert-file`);
    const secure = urls.find((url) => url.secure);
    if (secure === undefined) return undefined;
    throw new ConfigError(
      `TLS key/cert (--peer-cert-file, --peer-key-file) must be provided for peer url ${secure.text} with HTTPS scheme`,
    );
  }
  const trustedCaFile = values.text('peer-trusted-ca-file') || undefined;
  if (trustedCaFile !== undefined) checkReadable('peer-trusted-ca-file', trustedCaFile);
  const clientCertAuth = values.bool('peer-client-cert-auth') || trustedCaFile !== undefined;
  return {
    kind: 'files',
    bounds: tlsBounds(values),
    served,
    dialed: dialed ?? served,
    trustedCaFile,
    clientCertAuth,
    checkDialers: clientCertAuth && !values.bool('peer-skip-client-san-verification'),
    ...allowedPeers(values, urls, clientCertAuth),
  };
}

/** etcd's texts (server/embed/etcd.go: configurePeerListeners). */
function plainUrlWarnings(values: FlagValues, urls: readonly ServeUrl[]): readonly string[] {
  const plain = urls.filter(({ secure }) => !secure).map(({ text }) => text);
  const hasFiles = ['peer-cert-file', 'peer-key-file', 'peer-client-cert-file'].some(
    (flag) => values.text(flag) !== '',
  );
  const hasAuth = values.bool('peer-client-cert-auth') || values.text('peer-trusted-ca-file') !== '';
  return plain.flatMap((url) => [
    ...(hasFiles
      ? [`scheme is HTTP while key and cert files are present; ignoring key and cert files: peer ${url}`]
      : []),
    ...(hasAuth
      ? [`scheme is HTTP while --peer-client-cert-auth is enabled; ignoring client cert auth for this URL: peer ${url}`]
      : []),
  ]);
}

function allowedPeers(
  values: FlagValues,
  urls: readonly ServeUrl[],
  clientCertAuth: boolean,
): Pick<Extract<PeerTlsConfig, { kind: 'files' }>, 'crlFile' | 'allowedCommonNames' | 'allowedHostnames'> {
  const crlFile = values.text('peer-crl-file') || undefined;
  if (crlFile !== undefined) checkReadable('peer-crl-file', crlFile);
  const allowedCommonNames = values.names('peer-cert-allowed-cn');
  const allowedHostnames = values.names('peer-cert-allowed-hostname');
  refuseBothLists(allowedCommonNames, allowedHostnames);
  const set = changedAmong(values, restrictingPeerFlags).join(' ');
  const plain = urls.find(({ secure }) => !secure);
  if (set !== '' && !clientCertAuth)
    throw new ConfigError(`${set}: only with --peer-trusted-ca-file or --peer-client-cert-auth`);
  if (set !== '' && plain !== undefined)
    throw new ConfigError(`${set}: members that come to ${plain.text} show no certificate`);
  return { crlFile, allowedCommonNames, allowedHostnames };
}

/** Refuses flags that contradict --peer-auto-tls. etcd would make its certificate and ignore these flags. */
function autoPeerTls(values: FlagValues): PeerTlsConfig {
  const set = changedAmong(values, ['peer-client-cert-auth', 'peer-trusted-ca-file', ...restrictingPeerFlags]);
  if (set.length > 0)
    throw new ConfigError(`--peer-auto-tls knows no authority: give a certificate, or drop ${set.join(' ')}`);
  return { kind: 'auto', bounds: tlsBounds(values), years: Math.max(values.number('self-signed-cert-validity'), 1) };
}

function certificateFiles(values: FlagValues, certFlag: string, keyFlag: string): CertificateFiles | undefined {
  const [certFile, keyFile] = [values.text(certFlag), values.text(keyFlag)];
  if ((certFile === '') !== (keyFile === ''))
    throw new ConfigError(`--${certFlag} and --${keyFlag} must both be present`);
  if (certFile === '') return undefined;
  checkReadable(certFlag, certFile);
  checkReadable(keyFlag, keyFile);
  return { certFile, keyFile };
}

/** Throws ConfigError if it is longer than a prefix may be, or empty. */
export function tikvPrefix(values: FlagValues): string {
  const prefix = values.text('tikv-prefix') || values.text('initial-cluster-token');
  const bytes = Buffer.byteLength(prefix);
  if (bytes > 0 && bytes <= PREFIX_BYTES_MAX) return prefix;
  throw new ConfigError(`--tikv-prefix: expected 1 to ${PREFIX_BYTES_MAX} bytes, and it has ${bytes}`);
}

/** The TLS of PD and TiKV. Undefined: plain text. Throws ConfigError. */
export function tikvTls(values: FlagValues): ClusterConfig['tikvTls'] {
  const [ca, cert, key] = [values.text('tikv-cacert'), values.text('tikv-cert'), values.text('tikv-key')];
  if (ca === '' && cert === '' && key === '') return undefined;
  if ((cert === '') !== (key === '')) throw new ConfigError('--tikv-cert and --tikv-key must both be present');
  return {
    ...(ca === '' ? {} : { caPath: ca }),
    ...(cert === '' ? {} : { certPath: cert, keyPath: key }),
  };
}
