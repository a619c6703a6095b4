import { EngramError } from '@engram/core';
import { type CallContext, etcdserverpb, type Message, type Method } from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';

const SERVICE = '/etcdserverpb.Auth';
/** etcd's auth revision of a store whose users were never changed. */
const FIRST_REVISION = 1;

/**
 * What a store without users says about them, as etcd with authentication off. Clients that have a name and a password
 * ask first, and go on without a token. There is no call that makes users yet: those answer UNIMPLEMENTED.
 */
export function authMethods(parts: ServiceParts, admission: CallAdmission): readonly (readonly [string, Method])[] {
  const { store } = parts;
  const asks = (answer: () => Message): Method =>
    admission.unary(async (_request: Uint8Array, call: CallContext) => {
      await store.readIndex(new RpcCaller(call));
      return answer();
    });
  return [
    [
      `${SERVICE}/Authenticate`,
      asks(() => {
        throw new EngramError('AuthNotEnabled');
      }),
    ],
    [
      `${SERVICE}/AuthStatus`,
      asks(() =>
        etcdserverpb.encodeAuthStatusResponse({ header: parts.header(), enabled: false, authRevision: FIRST_REVISION }),
      ),
    ],
    [`${SERVICE}/UserList`, asks(() => etcdserverpb.encodeAuthUserListResponse({ header: parts.header(), users: [] }))],
    [`${SERVICE}/RoleList`, asks(() => etcdserverpb.encodeAuthRoleListResponse({ header: parts.header(), roles: [] }))],
  ];
}
