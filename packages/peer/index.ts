// The connections between the members of a cluster.
export { PeerLinks, type PeerLinksOptions } from './src/peer-links.ts';
export { servePeers, type PeerServer } from './src/peer-server.ts';
export type { PeerServerOptions } from './src/peer-server-options.ts';
export { type PeerTraffic, Traffic } from './src/peer-traffic.ts';
export type { PeerTls } from './src/tls.ts';
