/** A learner is ready when it has at least this share of the leader's log (etcd: readyPercentThreshold). */
export const READY_SHARE = 0.9;
