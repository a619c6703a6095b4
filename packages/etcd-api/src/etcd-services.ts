import type { MethodTable } from '@engram/wire';
import { authorizedMethods } from './auth/authorized-methods.ts';
import { authMethods } from './auth/auth-service.ts';
import { CallAdmission } from './call-admission.ts';
import { clusterMethods } from './cluster-service.ts';
import { healthMethods } from './health-service.ts';
import { kvMethods } from './kv-service.ts';
import { leaseMethods } from './lease-service.ts';
import { electionMethods } from './locks/election-service.ts';
import { lockMethods } from './locks/lock-service.ts';
import { maintenanceMethods } from './maintenance-service.ts';
import { reflectionMethods } from './reflection-service.ts';
import { ServiceParts } from './service-parts.ts';
import type { ServicesOptions } from './services-options.ts';
import { watchMethods } from './watch-service.ts';

/** etcd's services over one store. The transport answers UNIMPLEMENTED for methods that are not in the table. */
export function etcdServices(options: ServicesOptions): MethodTable {
  const parts = new ServiceParts(options);
  const admission = new CallAdmission(parts);
  const served: MethodTable = new Map([
    ...kvMethods(parts, admission),
    ...watchMethods(parts, admission),
    ...leaseMethods(parts, admission),
    ...clusterMethods(parts, admission),
    ...maintenanceMethods(parts, admission),
    ...authMethods(parts, admission),
    ...lockMethods(parts, admission),
    ...electionMethods(parts, admission),
    ...healthMethods(options.health, admission),
  ]);
  const reflection = reflectionMethods(served, admission, parts.limits.streamQueueBytesMax);
  return authorizedMethods(new Map([...served, ...reflection]), parts.auth);
}
