export const ENGRAMCTL_VERSION = '0.1.0';
/** Of etcd's API, as etcdctl says it. */
export const API_VERSION = '3.7';
