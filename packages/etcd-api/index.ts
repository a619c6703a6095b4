/** etcd's services over a store, as a table of methods for a transport. */
export { etcdServices } from './src/etcd-services.ts';
export {
  defaultLimits,
  type Limits,
  type MemberIdentity,
  type ServicesObserver,
  type ServicesOptions,
} from './src/services-options.ts';
export { HealthStatus } from './src/health-status.ts';
