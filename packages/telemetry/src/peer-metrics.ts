import { hex } from './hex-id.ts';
import type { MetricRegistry } from './metric-registry.ts';
import { exponentialBounds, PlainHistogram, type Sample } from './plain-histogram.ts';

/** What has passed between this member and one other, read at each scrape. */
export interface PeerReading {
  readonly connected: boolean;
  readonly disconnections: number;
  readonly sentBytes: number;
  readonly receivedBytes: number;
  readonly sendFailures: number;
  readonly receiveFailures: number;
  readonly refused: number;
  readonly refusedBatches: number;
}

/** etcd's bounds, in seconds (server/etcdserver/api/rafthttp/metrics.go). */
const roundTripBounds = exponentialBounds(0.0001, 2, 16);

/** etcd's metrics of the network between members. A node on its own has their names, and no samples. */
export class PeerMetrics {
  readonly #roundTrips = new Map<bigint, PlainHistogram>();
  #peers: Iterable<readonly [bigint, PeerReading]> = [];

  constructor(registry: MetricRegistry, memberId: () => bigint) {
    const each = (read: (peer: PeerReading) => number, labels: (id: string) => Record<string, string>) => () =>
      [...this.#peers].map(([id, peer]): Sample => ({ labels: labels(hex(id)), value: read(peer) }));
    const both = (Remote: string): Record<string, string> => ({ Local: hex(memberId()), Remote });
    const to = (To: string): Record<string, string> => ({ To });
    const from = (From: string): Record<string, string> => ({ From });
    registry.gauge(
      'etcd_network_known_peers',
      '1 for each other member.',
      each(() => 1, both),
    );
    registry.gauge(
      'etcd_network_active_peers',
      '1 for each other member that this one is connected to.',
      each(({ connected }) => (connected ? 1 : 0), both),
    );
    registry.counter(
      'etcd_network_disconnected_peers_total',
      'Connections to other members that have ended.',
      each(({ disconnections }) => disconnections, both),
    );
    registry.counter(
      'etcd_network_peer_sent_bytes_total',
      'Bytes sent to other members.',
      each(({ sentBytes }) => sentBytes, to),
    );
    registry.counter(
      'etcd_network_peer_received_bytes_total',
      'Bytes received from other members.',
      each(({ receivedBytes }) => receivedBytes, from),
    );
    registry.counter(
      'etcd_network_peer_sent_failures_total',
      'Messages and calls to other members that could not be sent.',
      each(({ sendFailures }) => sendFailures, to),
    );
    registry.counter(
      'etcd_network_peer_received_failures_total',
      'Streams of other members that have ended with an error.',
      each(({ receiveFailures }) => receiveFailures, from),
    );
    registry.counter(
      'engram_peer_refused_messages_total',
      'Messages of other members that were not taken, because no member that keeps the rules sends them.',
      each(({ refused }) => refused, from),
    );
    registry.counter(
      'engram_follower_refused_batches_total',
      'Batches of the leader that this member did not take, because no leader writes them. It does not advance meanwhile.',
      each(({ refusedBatches }) => refusedBatches, from),
    );
    registry.histograms(
      'etcd_network_peer_round_trip_time_seconds',
      'Time to another member and back, measured every 4 s.',
      () => [...this.#roundTrips].map(([id, histogram]) => histogram.reading({ To: hex(id) })),
    );
  }

  /** The other members, from now on. */
  watch(peers: Iterable<readonly [bigint, PeerReading]>): void {
    this.#peers = peers;
  }

  roundTrip(member: bigint, ms: number): void {
    let histogram = this.#roundTrips.get(member);
    if (histogram === undefined) {
      histogram = new PlainHistogram(roundTripBounds);
      this.#roundTrips.set(member, histogram);
    }
    histogram.observe(ms / 1000);
  }
}
