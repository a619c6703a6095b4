import { EngramError, GrpcCode } from '@engram/core';
import { etcdserverpb, type Init, type Message, type Method, StatusError } from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import type { ServiceParts } from './service-parts.ts';

const SERVICE = '/etcdserverpb.Cluster';

export function clusterMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const service = new ClusterService(parts);
  return [
    [`${SERVICE}/MemberList`, admission.unary(() => service.list())],
    [`${SERVICE}/MemberAdd`, admission.unary((request) => service.add(request))],
    [`${SERVICE}/MemberRemove`, admission.unary((request) => service.remove(request))],
    [`${SERVICE}/MemberUpdate`, admission.unary((request) => service.update(request))],
    [`${SERVICE}/MemberPromote`, admission.unary((request) => service.promote(request))],
  ];
}

/** A cluster of one member that stays so: what cannot be done is refused as etcd would, or as what it is. */
class ClusterService {
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  list(): Message {
    const { memberId, name, peerUrls, clientUrls } = this.#parts.member;
    const member: Init<etcdserverpb.Member> = { ID: memberId, name, peerURLs: peerUrls, clientURLs: clientUrls };
    // Membership has no revision (etcd server/etcdserver/api/v3rpc/member.go: header).
    return etcdserverpb.encodeMemberListResponse({ header: this.#parts.header(0), members: [member] });
  }

  add(request: Uint8Array): never {
    const { peerURLs } = etcdserverpb.decodeMemberAddRequest(request);
    if (peerURLs.length === 0 || !peerURLs.every(isPeerUrl)) throw new EngramError('MemberBadURLs');
    if (peerURLs.some((url) => this.#parts.member.peerUrls.includes(url.trim()))) throw new EngramError('PeerURLExist');
    throw fixedMembership();
  }

  remove(request: Uint8Array): never {
    const { ID } = etcdserverpb.decodeMemberRemoveRequest(request);
    this.#checkMember(ID);
    throw new EngramError('MemberNotEnoughStarted');
  }

  update(request: Uint8Array): never {
    const { ID } = etcdserverpb.decodeMemberUpdateRequest(request);
    this.#checkMember(ID);
    throw fixedMembership();
  }

  promote(request: Uint8Array): never {
    const { ID } = etcdserverpb.decodeMemberPromoteRequest(request);
    this.#checkMember(ID);
    throw new EngramError('MemberNotLearner');
  }

  #checkMember(id: bigint): void {
    if (id !== this.#parts.member.memberId) throw new EngramError('MemberNotFound');
  }
}

const fixedMembership = (): StatusError =>
  new StatusError(GrpcCode.UNIMPLEMENTED, 'etcdserver: the membership of this cluster is fixed');

/** etcd client/pkg/types/urls.go: NewURLs. */
function isPeerUrl(text: string): boolean {
  const match = /^(https?|unixs?):\/\/([^/?#]*)([^?#]*)/.exec(text.trim());
  if (match === null) return false;
  const [, scheme = '', host = '', path = ''] = match;
  if (scheme.startsWith('unix')) return true;
  return path === '' && /^(?:[^:[\]]*|\[[^\]]*\]):[^:]*$/.test(host);
}
