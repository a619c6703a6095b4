import { Limiter } from '@engram/core';
import { etcdserverpb as pb } from '@engram/wire';
import { messageOf } from '../cli/ctl-error.ts';
import { calls } from '../client/calls.ts';
import type { Connections } from '../client/connections.ts';
import { type Endpoint, parseEndpoint } from '../client/endpoint.ts';
import { EtcdClient, tlsOf } from '../client/etcd-client.ts';
import { isRpcError } from '../client/rpc-error.ts';
import { systemTls } from '../client/tls-files.ts';
import { certificateOf, certificatesIn } from './certificates.ts';
import type { AlarmReport, CertificateReport, ClusterReport, MemberAnswer, MemberReport } from './cluster-report.ts';
import { listedEndpoint } from './listed-endpoint.ts';

/** Calls of each kind to one endpoint; the middle one counts. */
const MEASURED = 5;
/** Endpoints that are asked at a time. */
const AT_A_TIME = 16;
/** Of a member, and members: a list comes from outside. */
const URLS_MAX = 8;
const MEMBERS_MAX = 100;

const ALARMS: Readonly<Record<number, AlarmReport['alarm']>> = {
  [pb.AlarmType.NOSPACE]: 'NOSPACE',
  [pb.AlarmType.CORRUPT]: 'CORRUPT',
};

type Answered = { readonly endpoint: Endpoint; readonly memberId: string; readonly answer: MemberAnswer };
type Asked = Answered | { readonly endpoint: Endpoint; readonly problem: string };

/** The members, as the cluster lists them, and its alarms. */
interface Listed {
  readonly members: readonly pb.Member[] | undefined;
  readonly alarms: readonly AlarmReport[];
  readonly unanswered: readonly string[];
}

/**
 * Asks the endpoints, then whoever of the members has not been asked by one of these. Every call has the bounds of the
 * connections. Rejects only with the signal's reason.
 */
export async function askCluster(
  connections: Connections,
  { nowMs, signal }: { readonly nowMs: () => number; readonly signal: AbortSignal },
): Promise<ClusterReport> {
  const limiter = new Limiter(AT_A_TIME);
  const askOne = (endpoint: Endpoint): Promise<Asked> =>
    limiter.run(() => askEndpoint(endpoint, connections, nowMs, signal));
  const askListed = async (url: string): Promise<Asked | { problem: string }> => {
    const found = listedEndpoint(url, connections);
    return 'problem' in found ? found : await askOne(found);
  };
  const given = await Promise.all(connections.endpoints.map(askOne));
  const answered = given.filter((each) => 'answer' in each);
  const listed = await listOf(connections, answered, signal);
  const members = await Promise.all(
    (listed.members ?? answered.map(asMember))
      .slice(0, MEMBERS_MAX)
      .map((member) => memberReport(member, given, askListed)),
  );
  const ids = new Set(members.map(({ id }) => id));
  const strangers = given.flatMap((each) => {
    if ('problem' in each) {
      const isOfMember = members.some(
        ({ answer, clientUrls }) => answer === undefined && clientUrls.some(isAt(each.endpoint)),
      );
      return isOfMember ? [] : [{ endpoint: each.endpoint.text, problem: each.problem }];
    }
    return ids.has(each.memberId)
      ? []
      : [
          {
            endpoint: each.endpoint.text,
            problem: `the member ${each.memberId} answers, which is not in the list of members`,
          },
        ];
  });
  const clusterIds = new Set([
    ...answered.map(({ answer }) => answer.clusterId),
    ...members.flatMap(({ answer }) => (answer === undefined ? [] : [answer.clusterId])),
  ]);
  return {
    clusterIds: [...clusterIds],
    members,
    strangers,
    alarms: listed.alarms,
    certificates: await certificatesOf(connections, members, limiter),
    unanswered: listed.unanswered,
  };
}

const hex = (id: bigint | undefined): string => (id ?? 0n).toString(16);

async function askEndpoint(
  endpoint: Endpoint,
  { options }: Connections,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Asked> {
  using client = new EtcdClient(endpoint, options);
  try {
    await client.unary(calls.status, {}, signal); // the connection is made, and whatever is loaded for it
    const statuses = await measured(nowMs, () => client.unary(calls.status, {}, signal));
    const reads = await readsOf(client, nowMs, signal);
    const { value: status, tookMs } = statuses;
    const { header, downgradeInfo } = status;
    const answer: MemberAnswer = {
      endpoint: endpoint.text,
      clusterId: hex(header?.clusterId),
      version: status.version,
      storageVersion: status.storageVersion,
      leader: hex(status.leader),
      revision: header?.revision ?? 0,
      raftTerm: status.raftTerm,
      raftIndex: status.raftIndex,
      raftAppliedIndex: status.raftAppliedIndex,
      dbSize: status.dbSize,
      dbSizeInUse: status.dbSizeInUse,
      dbSizeQuota: status.dbSizeQuota,
      downgrade: downgradeInfo?.enabled === true ? downgradeInfo.targetVersion : '',
      errors: status.errors,
      roundTripMs: tookMs,
      ...reads,
    };
    return { endpoint, memberId: hex(header?.memberId), answer };
  } catch (error) {
    signal.throwIfAborted();
    return { endpoint, problem: messageOf(error) };
  }
}

async function measured<Value>(
  nowMs: () => number,
  ask: () => Promise<Value>,
): Promise<{ readonly value: Value; readonly tookMs: number }> {
  const tookMs: number[] = [];
  for (;;) {
    const startMs = nowMs();
    const value = await ask();
    tookMs.push(nowMs() - startMs);
    if (tookMs.length < MEASURED) continue;
    return { value, tookMs: tookMs.toSorted((left, right) => left - right)[MEASURED >> 1]! };
  }
}

/** As `etcdctl endpoint health` asks: any key. A refusal of the right to read is an answer, too. */
async function readsOf(
  client: EtcdClient,
  nowMs: () => number,
  signal: AbortSignal,
): Promise<Pick<MemberAnswer, 'readMs' | 'readProblem'>> {
  try {
    const read = async (): Promise<void> => {
      try {
        await client.unary(calls.range, { key: Buffer.from('health') }, signal);
      } catch (error) {
        if (!isRpcError(error, 'PERMISSION_DENIED')) throw error;
      }
    };
    return { readMs: (await measured(nowMs, read)).tookMs };
  } catch (error) {
    signal.throwIfAborted();
    return { readProblem: messageOf(error) };
  }
}

async function listOf(connections: Connections, answered: readonly Answered[], signal: AbortSignal): Promise<Listed> {
  const [first] = answered;
  if (first === undefined) return { members: undefined, alarms: [], unanswered: [] };
  using client = new EtcdClient(first.endpoint, connections.options);
  const unanswered: string[] = [];
  const attempt = async <Value>(what: string, work: () => Promise<Value>): Promise<Value | undefined> => {
    try {
      return await work();
    } catch (error) {
      signal.throwIfAborted();
      unanswered.push(`${first.endpoint.text} does not tell ${what}: ${messageOf(error)}`);
      return undefined;
    }
  };
  // Not linearizable: the list is wanted where there is no quorum, too.
  const list = await attempt('its members', () => client.unary(calls.memberList, { linearizable: false }, signal));
  const alarms = await attempt('its alarms', () => client.unary(calls.alarm, {}, signal));
  return {
    members: list?.members,
    alarms: (alarms?.alarms ?? []).map(({ memberID, alarm }) => ({
      memberId: hex(memberID),
      alarm: ALARMS[alarm] ?? 'UNKNOWN',
    })),
    unanswered,
  };
}

/** Where there is no list, a member that answers is known by its answer. */
const asMember = ({ endpoint, memberId }: Answered): pb.Member => ({
  ...pb.newMember(),
  ID: BigInt(`0x${memberId}`),
  name: endpoint.text,
});

async function memberReport(
  { ID, name, isLearner, peerURLs, clientURLs }: pb.Member,
  given: readonly Asked[],
  ask: (url: string) => Promise<Asked | { problem: string }>,
): Promise<MemberReport> {
  const id = hex(ID);
  const about = { id, name, isLearner, peerUrls: peerURLs, clientUrls: clientURLs };
  const known = given.find((each) => 'answer' in each && each.memberId === id);
  if (known !== undefined && 'answer' in known) return { ...about, answer: known.answer, problems: [] };
  const problems: string[] = [];
  for (const url of clientURLs.slice(0, URLS_MAX)) {
    const asked = given.find(({ endpoint }) => isAt(endpoint)(url)) ?? (await ask(url));
    if ('answer' in asked && asked.memberId === id) return { ...about, answer: asked.answer, problems };
    problems.push(`${url}: ${'answer' in asked ? `the member ${asked.memberId} answers there` : asked.problem}`);
  }
  return { ...about, problems };
}

/** Whether a URL of the list of members is the place of an endpoint that was given, with a scheme or without. */
const isAt =
  ({ address }: Endpoint) =>
  (url: string): boolean =>
    url.replace(/^https?:\/\//, '') === address;

async function certificatesOf(
  { endpoints, options }: Connections,
  members: readonly MemberReport[],
  limiter: Limiter,
): Promise<readonly CertificateReport[]> {
  const asked = new Map(endpoints.map((endpoint) => [endpoint.text, endpoint]));
  for (const { answer } of members) {
    if (answer !== undefined && !asked.has(answer.endpoint)) asked.set(answer.endpoint, parseEndpoint(answer.endpoint));
  }
  const shown = await Promise.all(
    [...asked.values()].map((endpoint) =>
      limiter.run(async () =>
        tlsOf(endpoint, options.tls) === undefined
          ? undefined
          : await certificateOf(endpoint, options.tls ?? systemTls(), options.dialTimeoutMs),
      ),
    ),
  );
  return [
    ...shown.filter((each) => each !== undefined),
    ...(options.tls?.files ?? []).flatMap(({ flag, pem }) => certificatesIn(flag, pem)),
  ];
}
