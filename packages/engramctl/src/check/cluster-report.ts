/** What a check has found, as it is printed with --write-out=json. Ids are in hex, times in milliseconds. */
export interface ClusterReport {
  readonly clusterIds: readonly string[];
  readonly members: readonly MemberReport[];
  /** Endpoints that were given and do not answer, or that belong to no member of the list. */
  readonly strangers: readonly StrangerReport[];
  readonly alarms: readonly AlarmReport[];
  readonly certificates: readonly CertificateReport[];
  /** What could not be asked, and why: the list of members, the alarms. */
  readonly unanswered: readonly string[];
}

export interface MemberReport {
  readonly id: string;
  readonly name: string;
  readonly isLearner: boolean;
  readonly peerUrls: readonly string[];
  readonly clientUrls: readonly string[];
  /** Where it answered. Absent if it does not answer. */
  readonly answer?: MemberAnswer;
  /** Why it does not: an endpoint and the error, for each that was tried. */
  readonly problems: readonly string[];
}

export interface StrangerReport {
  readonly endpoint: string;
  readonly problem: string;
}

export interface MemberAnswer {
  readonly endpoint: string;
  readonly clusterId: string;
  readonly version: string;
  readonly storageVersion: string;
  /** The id of the leader, "0" if it knows none. */
  readonly leader: string;
  readonly revision: number;
  readonly raftTerm: number;
  readonly raftIndex: number;
  readonly raftAppliedIndex: number;
  readonly dbSize: number;
  readonly dbSizeInUse: number;
  readonly dbSizeQuota: number;
  readonly downgrade: string;
  readonly errors: readonly string[];
  /** The middle of some calls of Status, one after another. */
  readonly roundTripMs: number;
  /** The middle of some linearizable reads. Absent if one has failed. */
  readonly readMs?: number;
  readonly readProblem?: string;
}

export interface AlarmReport {
  readonly memberId: string;
  readonly alarm: 'NOSPACE' | 'CORRUPT' | 'UNKNOWN';
}

export interface CertificateReport {
  /** Whose it is: an endpoint, or a flag. */
  readonly of: string;
  readonly subject: string;
  /** ISO 8601. */
  readonly endsAt: string;
  readonly endsAtMs: number;
}

/** The leader, as the members say. Undefined if they know none, or not the same one. */
export function leaderOf({ members }: ClusterReport): string | undefined {
  const leaders = new Set(members.flatMap(({ answer }) => (answer === undefined ? [] : [answer.leader])));
  leaders.delete('0');
  return leaders.size === 1 ? [...leaders][0] : undefined;
}

export const revisionOf = ({ members }: ClusterReport): number =>
  Math.max(0, ...members.map(({ answer }) => answer?.revision ?? 0));

/** How many entries of the log a member has yet to apply, of those that any member knows. */
export function lagOf({ members }: ClusterReport, { raftAppliedIndex }: MemberAnswer): number {
  const newest = Math.max(...members.map(({ answer }) => answer?.raftAppliedIndex ?? 0));
  return Math.max(0, newest - raftAppliedIndex);
}
