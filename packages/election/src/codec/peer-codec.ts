import { decodeMessage, encodeMessage } from '@engram/raft-ts';
import { memberId } from '../cluster/member.ts';
import type { PeerMessage } from '../peer-message.ts';
import { badBytes, decodeOrRefuse, refusing } from './bad-bytes.ts';
import * as electionpb from './gen/electionpb.ts';

export function encodePeerMessage(message: PeerMessage): Uint8Array {
  const { clusterId } = message;
  if (message.kind === 'leaving') return electionpb.encodePeerMessage({ clusterId, leaving: message });
  if (message.kind === 'removed') return electionpb.encodePeerMessage({ clusterId, removed: message.to });
  return electionpb.encodePeerMessage({
    clusterId,
    storageUnhealthy: !message.storageHealthy,
    raft: encodeMessage(message.message),
  });
}

/** Throws ElectionError `bad-bytes`, also for a kind that this version does not know. */
export function decodePeerMessage(bytes: Uint8Array): PeerMessage {
  const { clusterId, storageUnhealthy, raft, removed, leaving } = decodeOrRefuse(electionpb.PeerMessageCodec, bytes);
  if (clusterId === 0n) throw badBytes('a message without a cluster');
  if (raft !== undefined) {
    return { kind: 'raft', clusterId, storageHealthy: !storageUnhealthy, message: refusing(() => decodeMessage(raft)) };
  }
  if (removed !== undefined && removed !== 0n) return { kind: 'removed', clusterId, to: memberId(removed) };
  if (leaving !== undefined && leaving.from !== 0n && leaving.to !== 0n) {
    return { kind: 'leaving', clusterId, from: memberId(leaving.from), to: memberId(leaving.to) };
  }
  throw badBytes('a message without a known body');
}
