// Made by packages/protobuf/tools/generate.ts from proto/. Not edited by hand.

/** Every service and method of the public interface; a method's path is `/<service>/<method>`. */
export const services = [
  {
    name: 'etcdserverpb.KV',
    methods: [
      { name: 'Range', clientStream: false, serverStream: false },
      { name: 'RangeStream', clientStream: false, serverStream: true },
      { name: 'Put', clientStream: false, serverStream: false },
      { name: 'DeleteRange', clientStream: false, serverStream: false },
      { name: 'Txn', clientStream: false, serverStream: false },
      { name: 'Compact', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'etcdserverpb.Watch',
    methods: [
      { name: 'Watch', clientStream: true, serverStream: true },
    ],
  },
  {
    name: 'etcdserverpb.Lease',
    methods: [
      { name: 'LeaseGrant', clientStream: false, serverStream: false },
      { name: 'LeaseRevoke', clientStream: false, serverStream: false },
      { name: 'LeaseKeepAlive', clientStream: true, serverStream: true },
      { name: 'LeaseTimeToLive', clientStream: false, serverStream: false },
      { name: 'LeaseLeases', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'etcdserverpb.Cluster',
    methods: [
      { name: 'MemberAdd', clientStream: false, serverStream: false },
      { name: 'MemberRemove', clientStream: false, serverStream: false },
      { name: 'MemberUpdate', clientStream: false, serverStream: false },
      { name: 'MemberList', clientStream: false, serverStream: false },
      { name: 'MemberPromote', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'etcdserverpb.Maintenance',
    methods: [
      { name: 'Alarm', clientStream: false, serverStream: false },
      { name: 'Status', clientStream: false, serverStream: false },
      { name: 'Defragment', clientStream: false, serverStream: false },
      { name: 'Hash', clientStream: false, serverStream: false },
      { name: 'HashKV', clientStream: false, serverStream: false },
      { name: 'Snapshot', clientStream: false, serverStream: true },
      { name: 'MoveLeader', clientStream: false, serverStream: false },
      { name: 'Downgrade', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'etcdserverpb.Auth',
    methods: [
      { name: 'AuthEnable', clientStream: false, serverStream: false },
      { name: 'AuthDisable', clientStream: false, serverStream: false },
      { name: 'AuthStatus', clientStream: false, serverStream: false },
      { name: 'Authenticate', clientStream: false, serverStream: false },
      { name: 'UserAdd', clientStream: false, serverStream: false },
      { name: 'UserGet', clientStream: false, serverStream: false },
      { name: 'UserList', clientStream: false, serverStream: false },
      { name: 'UserDelete', clientStream: false, serverStream: false },
      { name: 'UserChangePassword', clientStream: false, serverStream: false },
      { name: 'UserGrantRole', clientStream: false, serverStream: false },
      { name: 'UserRevokeRole', clientStream: false, serverStream: false },
      { name: 'RoleAdd', clientStream: false, serverStream: false },
      { name: 'RoleGet', clientStream: false, serverStream: false },
      { name: 'RoleList', clientStream: false, serverStream: false },
      { name: 'RoleDelete', clientStream: false, serverStream: false },
      { name: 'RoleGrantPermission', clientStream: false, serverStream: false },
      { name: 'RoleRevokePermission', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'v3electionpb.Election',
    methods: [
      { name: 'Campaign', clientStream: false, serverStream: false },
      { name: 'Proclaim', clientStream: false, serverStream: false },
      { name: 'Leader', clientStream: false, serverStream: false },
      { name: 'Observe', clientStream: false, serverStream: true },
      { name: 'Resign', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'v3lockpb.Lock',
    methods: [
      { name: 'Lock', clientStream: false, serverStream: false },
      { name: 'Unlock', clientStream: false, serverStream: false },
    ],
  },
  {
    name: 'grpc.health.v1.Health',
    methods: [
      { name: 'Check', clientStream: false, serverStream: false },
      { name: 'List', clientStream: false, serverStream: false },
      { name: 'Watch', clientStream: false, serverStream: true },
    ],
  },
] as const;
