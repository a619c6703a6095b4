import { arch, platform } from 'node:os';

/** The version of etcd that clients see. kube-apiserver and clientv3 check it. */
export const ETCD_VERSION = '3.7.3';
/** Its major and minor version, for the cluster and the storage. */
export const CLUSTER_VERSION = '3.7.0';
export const ENGRAM_VERSION = '0.1.0';

const goArch: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** etcd's four lines, which tools parse, and one with the version of Engram. */
export function versionText(): string {
  return [
    `etcd Version: ${ETCD_VERSION}`,
    `Git SHA: engram-${ENGRAM_VERSION}`,
    `Go Version: none (node ${process.version})`,
    `Go OS/Arch: ${platform()}/${goArch[arch()] ?? arch()}`,
    `Engram Version: ${ENGRAM_VERSION}`,
    '',
  ].join('\n');
}
