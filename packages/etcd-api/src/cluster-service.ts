import { EngramError } from '@engram/core';
import { type CallContext, etcdserverpb, type Init, type Message, type Method } from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import type { Member } from './cluster-view.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';

const SERVICE = '/etcdserverpb.Cluster';

export function clusterMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new ClusterService(parts);
  return [
    [`${SERVICE}/MemberList`, admission.unary((request, call) => service.list(request, call))],
    [`${SERVICE}/MemberAdd`, admission.unary((request, call) => service.add(request, call))],
    [`${SERVICE}/MemberRemove`, admission.unary((request, call) => service.remove(request, call))],
    [`${SERVICE}/MemberUpdate`, admission.unary((request, call) => service.update(request, call))],
    [`${SERVICE}/MemberPromote`, admission.unary((request, call) => service.promote(request, call))],
  ];
}

class ClusterService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  async list(request: Uint8Array, call: CallContext): Promise<Message> {
    const { linearizable } = etcdserverpb.decodeMemberListRequest(request);
    if (linearizable) {
      const caller = new RpcCaller(call);
      await this.#parts.store.readIndex(caller);
      await this.#parts.cluster.membersCaughtUp(caller);
    }
    return etcdserverpb.encodeMemberListResponse({
      header: this.#header(),
      members: this.#parts.cluster.members.map(memberMessage),
    });
  }

  async add(request: Uint8Array, call: CallContext): Promise<Message> {
    const { peerURLs, isLearner } = etcdserverpb.decodeMemberAddRequest(request);
    if (peerURLs.length === 0 || !peerURLs.every(isPeerUrl)) throw new EngramError('MemberBadURLs');
    const { added, members } = await this.#parts.cluster.changes.add(peerURLs, isLearner, new RpcCaller(call));
    return etcdserverpb.encodeMemberAddResponse({
      header: this.#header(),
      member: memberMessage(added),
      members: members.map(memberMessage),
    });
  }

  async remove(request: Uint8Array, call: CallContext): Promise<Message> {
    const { ID } = etcdserverpb.decodeMemberRemoveRequest(request);
    const members = await this.#parts.cluster.changes.remove(ID, new RpcCaller(call));
    return etcdserverpb.encodeMemberRemoveResponse({ header: this.#header(), members: members.map(memberMessage) });
  }

  async update(request: Uint8Array, call: CallContext): Promise<Message> {
    const { ID, peerURLs } = etcdserverpb.decodeMemberUpdateRequest(request);
    const members = await this.#parts.cluster.changes.update(ID, peerURLs, new RpcCaller(call));
    return etcdserverpb.encodeMemberUpdateResponse({ header: this.#header(), members: members.map(memberMessage) });
  }

  async promote(request: Uint8Array, call: CallContext): Promise<Message> {
    const { ID } = etcdserverpb.decodeMemberPromoteRequest(request);
    const members = await this.#parts.cluster.changes.promote(ID, new RpcCaller(call));
    return etcdserverpb.encodeMemberPromoteResponse({ header: this.#header(), members: members.map(memberMessage) });
  }

  /** Membership has no revision (etcd server/etcdserver/api/v3rpc/member.go: header). */
  #header(): Init<etcdserverpb.ResponseHeader> {
    return this.#parts.header(0);
  }
}

const memberMessage = ({ id, name, peerUrls, clientUrls, isLearner }: Member): Init<etcdserverpb.Member> => ({
  ID: id,
  name,
  peerURLs: peerUrls,
  clientURLs: clientUrls,
  isLearner,
});

/** etcd client/pkg/types/urls.go: NewURLs. */
function isPeerUrl(text: string): boolean {
  const match = /^(https?|unixs?):\/\/([^/?#]*)([^?#]*)/.exec(text.trim());
  if (match === null) return false;
  const [, scheme = '', host = '', path = ''] = match;
  if (scheme.startsWith('unix')) return true;
  return path === '' && /^(?:[^:[\]]*|\[[^\]]*\]):[^:]*$/.test(host);
}
