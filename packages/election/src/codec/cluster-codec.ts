import { epoch, logPosition } from '@engram/core';
import type { ClusterState } from '../cluster/cluster-state.ts';
import type { StoreLeadership } from '../cluster/store-leadership.ts';
import type { ClusterCommand, MemberChange } from '../cluster/command.ts';
import { byId, type Member, memberId } from '../cluster/member.ts';
import { badBytes, decodeOrRefuse } from './bad-bytes.ts';
import * as electionpb from './gen/electionpb.ts';

/** Equal states have equal bytes, because members and settings are sorted. */
export function encodeClusterState(state: ClusterState): Uint8Array {
  const settings = [...state.settings].sort(([one], [other]) => (one < other ? -1 : 1));
  return electionpb.encodeClusterState({
    clusterId: state.clusterId,
    members: state.members.map(memberForm),
    removed: [...state.removed],
    settings: settings.map(([name, value]) => ({ name, value })),
    leadership: state.leadership,
    removedMembers: state.removed.flatMap((id) => {
      const peerUrls = state.removedUrls.get(id);
      return peerUrls === undefined ? [] : [{ id, peerUrls: [...peerUrls] }];
    }),
  });
}

export function decodeClusterState(bytes: Uint8Array): ClusterState {
  const form = decodeOrRefuse(electionpb.ClusterStateCodec, bytes);
  if (form.clusterId === 0n) throw badBytes('a cluster without an id');
  return {
    clusterId: form.clusterId,
    members: form.members.map(memberOf).sort(byId),
    removed: form.removed.map(memberId),
    removedUrls: new Map(form.removedMembers.map(({ id, peerUrls }) => [memberId(id), peerUrls])),
    settings: new Map(form.settings.map(({ name, value }) => [name, value.slice()])),
    leadership: form.leadership === undefined ? undefined : leadershipOf(form.leadership),
  };
}

export function encodeCommand(command: ClusterCommand): Uint8Array {
  switch (command.kind) {
    case 'leadership':
      return electionpb.encodeCommand({ leadership: command.leadership });
    case 'attributes': {
      const { member, name, clientUrls } = command;
      return electionpb.encodeCommand({ attributes: { member, name, clientUrls: [...clientUrls] } });
    }
    case 'setting':
      return electionpb.encodeCommand({ setting: command });
  }
}

/** A command that this version does not know is `bad-bytes`: if this member ignored it, its state would differ. */
export function decodeCommand(bytes: Uint8Array): ClusterCommand {
  const { leadership, attributes, setting } = decodeOrRefuse(electionpb.CommandCodec, bytes);
  if (leadership !== undefined) return { kind: 'leadership', leadership: leadershipOf(leadership) };
  if (attributes !== undefined) {
    const { member, name, clientUrls } = attributes;
    return { kind: 'attributes', member: memberId(member), name, clientUrls };
  }
  if (setting !== undefined) return { kind: 'setting', name: setting.name, value: setting.value.slice() };
  throw badBytes('an unknown command');
}

export function encodeMemberChange(change: MemberChange): Uint8Array {
  return electionpb.encodeMemberChange({ peerUrls: [...change.peerUrls] });
}

export const decodeMemberChange = (bytes: Uint8Array): MemberChange =>
  decodeOrRefuse(electionpb.MemberChangeCodec, bytes);

function memberForm({ id, name, peerUrls, clientUrls, isLearner }: Member): electionpb.MemberInit {
  return { id, name, peerUrls: [...peerUrls], clientUrls: [...clientUrls], isLearner };
}

function memberOf(form: electionpb.Member): Member {
  if (form.id === 0n) throw badBytes('a member without an id');
  return { ...form, id: memberId(form.id) };
}

function leadershipOf(form: electionpb.Leadership): StoreLeadership {
  return {
    epoch: epoch(form.epoch),
    holder: memberId(form.holder),
    segment: form.segment,
    position: logPosition(form.position),
  };
}
