import { type Alarm, type Caller, permitUser } from '@engram/backend';
import { assert, EngramError, GrpcCode, isEngramError } from '@engram/core';
import {
  etcdserverpb,
  type Message,
  type Method,
  StatusError,
  type StreamCall,
  type StreamHandler,
} from '@engram/wire';
import type { CallAdmission } from './call-admission.ts';
import { MessagePump } from './message-pump.ts';
import { minorVersion, parseVersion, type ServerVersion } from './server-version.ts';
import { RpcCaller } from './rpc-caller.ts';
import type { ServiceParts } from './service-parts.ts';
import { etcdDatabase } from './snapshot/etcd-database.ts';
import { snapshotMessages } from './snapshot/snapshot-messages.ts';

const SERVICE = '/etcdserverpb.Maintenance';
const { AlarmRequestAlarmAction, AlarmType, DowngradeRequestDowngradeAction } = etcdserverpb;
/** etcd's hash of an empty history: the CRC-32C of its bucket's name. Ours of no keys is 0, which JSON would leave out. */
const EMPTY_HASH = 0x40a4756d;
const alarmNames = new Map<number, string>(Object.entries(AlarmType).map(([name, alarm]) => [alarm, name]));

export function maintenanceMethods(
  parts: ServiceParts,
  admission: CallAdmission,
): readonly (readonly [string, Method])[] {
  const service = new MaintenanceService(parts);
  return [
    [`${SERVICE}/Alarm`, admission.unary((request, call) => service.alarm(request, new RpcCaller(call)))],
    [
      `${SERVICE}/Status`,
      admission.unary(
        () => service.status(),
        () => true,
      ),
    ],
    [`${SERVICE}/Defragment`, admission.unary(() => service.defragment())],
    [`${SERVICE}/Hash`, admission.unary((_, call) => service.hash(call.signal))],
    [`${SERVICE}/HashKV`, admission.unary((request, call) => service.hashKv(request, call.signal))],
    [`${SERVICE}/MoveLeader`, admission.unary((request, call) => service.moveLeader(request, new RpcCaller(call)))],
    [`${SERVICE}/Downgrade`, admission.unary((request) => service.downgrade(request))],
    [
      `${SERVICE}/Snapshot`,
      admission.serverStream(
        (_, call) => service.snapshot(call),
        () => true,
      ),
    ],
  ];
}

/** protobuf's text of an AlarmMember, which omits zero fields. */
function alarmText({ memberId, alarm }: Alarm): string {
  const member = memberId === 0n ? '' : `memberID:${memberId} `;
  return `${member}alarm:${alarmNames.get(alarm) ?? alarm}`;
}

class MaintenanceService {
  readonly #parts: ServiceParts;
  readonly #version: ServerVersion;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const version = parseVersion(parts.options.version);
    assert(version !== undefined, `the server's version is no version: ${parts.options.version}`);
    this.#version = version;
  }

  async alarm(request: Uint8Array, caller: Caller): Promise<Message> {
    const { action, memberID, alarm } = etcdserverpb.decodeAlarmRequest(request);
    const alarms = await this.#changeAlarm(action, memberID, alarm, caller);
    return etcdserverpb.encodeAlarmResponse({ header: this.#parts.header(), alarms });
  }

  async #changeAlarm(
    action: number,
    memberID: bigint,
    alarm: number,
    caller: Caller,
  ): Promise<readonly { readonly memberID: bigint; readonly alarm: number }[]> {
    const { store } = this.#parts;
    const changed = [{ memberID, alarm }];
    switch (action) {
      case AlarmRequestAlarmAction.GET:
        await this.#newest(caller);
        permitUser(store.auth.state, caller);
        return store
          .alarms()
          .filter((set) => alarm === AlarmType.NONE || set.alarm === alarm)
          .map((set) => ({ memberID: set.memberId, alarm: set.alarm }));
      case AlarmRequestAlarmAction.ACTIVATE:
        if (alarm === AlarmType.NONE) return [];
        // etcd would store such an alarm, without any effect, until a client removes it.
        if (!alarmNames.has(alarm)) throw new StatusError(GrpcCode.INVALID_ARGUMENT, 'etcdserver: unknown alarm type');
        await store.activateAlarm({ memberId: memberID, alarm }, caller);
        return changed;
      case AlarmRequestAlarmAction.DEACTIVATE:
        return (await store.deactivateAlarm({ memberId: memberID, alarm }, caller)) ? changed : [];
      default:
        // etcd's process does not survive this request (server/etcdserver/apply/backend.go: Alarm returns no answer).
        throw new StatusError(GrpcCode.INVALID_ARGUMENT, 'etcdserver: unknown alarm action');
    }
  }

  /**
   * In etcd the list of alarms is a proposal too, so that it shows every alarm that was raised before. It fails as a proposal
   * does if no leader comes.
   */
  async #newest(caller: Caller): Promise<void> {
    try {
      await this.#parts.store.readIndex(caller);
    } catch (error) {
      throw isEngramError(error, 'NoLeader') ? new EngramError('Timeout', { cause: error }) : error;
    }
  }

  status(): Message {
    const { store, cluster, options } = this.#parts;
    const { totalBytes, inUseBytes, quotaBytes, logPosition } = store.status();
    // Clients divide by the size, so it is at least 1, and JSON leaves out what is 0.
    const dbSize = Math.max(1, totalBytes);
    return etcdserverpb.encodeStatusResponse({
      header: this.#parts.header(),
      version: options.version,
      dbSize,
      dbSizeInUse: Math.min(Math.max(1, inUseBytes), dbSize),
      dbSizeQuota: quotaBytes,
      leader: cluster.leaderId,
      // A log position corresponds to raft's index: every change increases it, also one without a revision.
      raftIndex: logPosition,
      raftAppliedIndex: logPosition,
      raftTerm: cluster.term,
      isLearner: cluster.isLearner,
      storageVersion: minorVersion(this.#version),
      downgradeInfo: { enabled: false },
      errors: [
        ...(cluster.leaderId === 0n ? ['etcdserver: no leader'] : []),
        ...(cluster.stalledMs > 0 ? [`storage has not answered for ${Math.round(cluster.stalledMs / 1000)} s`] : []),
        ...store.alarms().map(alarmText),
      ],
    });
  }

  /** Makes the storage clean up now, for operators whose store is over its quota. It also cleans up by itself. */
  async defragment(): Promise<Message> {
    await this.#parts.store.defragment();
    return etcdserverpb.encodeDefragmentResponse({});
  }

  async hash(signal: AbortSignal): Promise<Message> {
    const { hash } = await this.#parts.store.hashKv(0, signal);
    return etcdserverpb.encodeHashResponse({ header: this.#parts.header(), hash: hash || EMPTY_HASH });
  }

  async hashKv(request: Uint8Array, signal: AbortSignal): Promise<Message> {
    const { revision } = etcdserverpb.decodeHashKVRequest(request);
    const { hash, hashRevision, compactRevision } = await this.#parts.store.hashKv(revision, signal);
    const header = this.#parts.header();
    return etcdserverpb.encodeHashKVResponse({ header, hash: hash || EMPTY_HASH, hashRevision, compactRevision });
  }

  snapshot(call: StreamCall): StreamHandler {
    const version = minorVersion(this.#version);
    return new MessagePump(call, this.#parts, (signal) =>
      snapshotMessages(() => etcdDatabase(this.#parts, this.#version, signal), version),
    );
  }

  async moveLeader(request: Uint8Array, caller: Caller): Promise<Message> {
    const { targetID } = etcdserverpb.decodeMoveLeaderRequest(request);
    await this.#parts.cluster.changes.moveLeader(targetID, caller);
    return etcdserverpb.encodeMoveLeaderResponse({});
  }

  /**
   * Checks a target version as etcd does (etcd server/etcdserver/version/manager.go), but changes nothing, because the
   * data here has no format of an older minor. A cancel without a downgrade succeeds, as in etcd.
   */
  downgrade(request: Uint8Array): Message {
    const { action, version } = etcdserverpb.decodeDowngradeRequest(request);
    switch (action) {
      case DowngradeRequestDowngradeAction.VALIDATE:
        this.#checkDowngradeTarget(version);
        break;
      case DowngradeRequestDowngradeAction.ENABLE:
        this.#checkDowngradeTarget(version);
        throw new StatusError(
          GrpcCode.FAILED_PRECONDITION,
          'etcdserver: cannot enable a downgrade: this server has no older storage version',
        );
      case DowngradeRequestDowngradeAction.CANCEL:
        break;
      default:
        throw new StatusError(GrpcCode.UNKNOWN, 'etcdserver: unknown method');
    }
    const { major, minor } = this.#version;
    return etcdserverpb.encodeDowngradeResponse({ header: this.#parts.header(), version: `${major}.${minor}` });
  }

  #checkDowngradeTarget(text: string): void {
    const target = parseVersion(text) ?? parseVersion(`${text}.0`);
    if (target === undefined) throw new EngramError('WrongDowngradeVersionFormat');
    const { major, minor } = this.#version;
    if (target.major !== major || target.minor !== minor - 1) throw new EngramError('InvalidDowngradeTargetVersion');
  }
}
