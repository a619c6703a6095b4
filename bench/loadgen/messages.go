package main

// etcd's requests and answers (api/etcdserverpb/rpc.proto, api/mvccpb/kv.proto), as far as the operations use them.

const (
	pathRange     = "/etcdserverpb.KV/Range"
	pathPut       = "/etcdserverpb.KV/Put"
	pathTxn       = "/etcdserverpb.KV/Txn"
	pathCompact   = "/etcdserverpb.KV/Compact"
	pathWatch     = "/etcdserverpb.Watch/Watch"
	pathGrant     = "/etcdserverpb.Lease/LeaseGrant"
	pathKeepAlive = "/etcdserverpb.Lease/LeaseKeepAlive"
	pathSnapshot  = "/etcdserverpb.Maintenance/Snapshot"
)

// Field numbers by message.
const (
	rangeKey, rangeEnd, rangeLimit, rangeCountOnly = 1, 2, 3, 9
	rangedHeader, rangedKvs, rangedCount           = 1, 2, 4
	putKey, putValue                               = 1, 2
	txnCompare, txnSuccess, txnFailure             = 1, 2, 3
	txnSucceeded                                   = 2
	compareResult, compareTarget, compareKey       = 1, 2, 3
	compareModRevision                             = 6
	opRange, opPut, opDelete                       = 1, 2, 3
	headerRevision                                 = 3
	kvKey, kvModRevision, kvValue                  = 1, 3, 5
	compactRevision, compactPhysical               = 1, 2
	watchCreate                                    = 1
	createKey, createEnd, createPrevKv             = 1, 2, 6
	watchedCreated, watchedCanceled, watchedEvents = 3, 4, 11
	watchedCompacted                               = 5
	eventType, eventKv                             = 1, 2
	grantTTL, grantedID                            = 1, 2
	keepAliveID, keptTTL                           = 1, 3
	snapshotBlob                                   = 3

	targetMod   = 2
	eventDelete = 1
)

func putRequest(to, key, value []byte) []byte {
	return appendBytes(appendBytes(to, putKey, key), putValue, value)
}

func getRequest(to, key []byte) []byte { return appendBytes(to, rangeKey, key) }

// limit 0 is no limit.
func rangeRequest(to, key, end []byte, limit int) []byte {
	to = appendBytes(appendBytes(to, rangeKey, key), rangeEnd, end)
	if limit > 0 {
		to = appendInt(to, rangeLimit, int64(limit))
	}
	return to
}

// guarded is how kube-apiserver writes: if the key's mod revision is still `revision`, do it, else read the key. Of
// `operation` it takes the op's field in RequestOp and its encoded request.
func guarded(to, key []byte, revision int64, operation int, request []byte) []byte {
	var compare, op [512]byte
	guard := appendInt(compare[:0], compareResult, 0)
	guard = appendInt(guard, compareTarget, targetMod)
	guard = appendBytes(guard, compareKey, key)
	guard = appendInt(guard, compareModRevision, revision)
	to = appendBytes(to, txnCompare, guard)

	inner := appendHead(op[:0], operation, len(request))
	to = appendHead(to, txnSuccess, len(inner)+len(request))
	to = append(append(to, inner...), request...)

	read := getRequest(guard[:0], key)
	return appendBytes(to, txnFailure, appendBytes(op[:0], opRange, read))
}

func revisionOf(answer []byte) int64 { return intOf(bytesOf(answer, 1), headerRevision) }

// prefixEnd is the end of the range of all keys that start with a prefix (whose last byte is not 0xff).
func prefixEnd(prefix []byte) []byte {
	end := append([]byte(nil), prefix...)
	end[len(end)-1]++
	return end
}
