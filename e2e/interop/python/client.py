"""The checks of e2e/interop with gRPC's own Python client, and stubs that grpcio-tools makes of proto/: see ../README.md."""

import concurrent.futures
import os
import queue
import time

import grpc
from etcd.api.etcdserverpb import rpc_pb2 as pb
from etcd.api.etcdserverpb import rpc_pb2_grpc
from etcd.server.v3electionpb import v3election_pb2 as epb
from etcd.server.v3electionpb import v3election_pb2_grpc
from etcd.server.v3lockpb import v3lock_pb2 as lpb
from etcd.server.v3lockpb import v3lock_pb2_grpc

PREFIX = b"/interop/python/"
END = b"/interop/python0"
WAIT_MAX = 20
LARGE_BYTES, LARGE_KEYS = 1_400_000, 22
OPTIONS = [("grpc.max_receive_message_length", -1), ("grpc.max_send_message_length", -1)]

channel = grpc.insecure_channel(os.environ["ENDPOINT"], options=OPTIONS)
kv, lease, watch = (stub(channel) for stub in (rpc_pb2_grpc.KVStub, rpc_pb2_grpc.LeaseStub, rpc_pb2_grpc.WatchStub))
lock, election = v3lock_pb2_grpc.LockStub(channel), v3election_pb2_grpc.ElectionStub(channel)


def put(key, value, **more):
    return kv.Put(pb.PutRequest(key=PREFIX + key, value=value, **more), timeout=WAIT_MAX)


def get(key, **more):
    return kv.Range(pb.RangeRequest(key=PREFIX + key, **more), timeout=WAIT_MAX)


def equal(found, wanted):
    if found != wanted:
        raise AssertionError(f"{found!r}, and not {wanted!r}")


def refused(work, code, details=None):
    """Without details: those of whoever ends the call first, client or server."""
    try:
        work()
    except grpc.RpcError as error:
        equal((error.code(), details and error.details()), (code, details))
    else:
        raise AssertionError("not refused")


class Requests:
    """What goes out on a stream, when it is told."""

    def __init__(self):
        self._queue = queue.Queue()

    def send(self, request):
        self._queue.put(request)

    def close(self):
        self._queue.put(None)

    def __iter__(self):
        return self

    def __next__(self):
        request = self._queue.get()
        if request is None:
            raise StopIteration
        return request


def check_kv():
    written = put(b"\x00\xff", b"value\x00\xfe")
    found = get(b"\x00\xff").kvs[0]
    equal((found.value, found.mod_revision), (b"value\x00\xfe", written.header.revision))


def check_range():
    for at in range(5):
        put(b"range/%d" % at, b"v")
    descend = dict(sort_order=pb.RangeRequest.DESCEND, sort_target=pb.RangeRequest.KEY)
    found = get(b"range/", range_end=PREFIX + b"range0", limit=2, **descend)
    equal((found.count, found.more, [kv.key for kv in found.kvs]), (5, True, [PREFIX + b"range/4", PREFIX + b"range/3"]))


def check_txn():
    key = PREFIX + b"txn"
    request = pb.TxnRequest(
        compare=[pb.Compare(key=key, target=pb.Compare.CREATE, result=pb.Compare.EQUAL, create_revision=0)],
        success=[pb.RequestOp(request_put=pb.PutRequest(key=key, value=b"made"))],
        failure=[pb.RequestOp(request_range=pb.RangeRequest(key=key))],
    )
    equal(kv.Txn(request, timeout=WAIT_MAX).succeeded, True)
    second = kv.Txn(request, timeout=WAIT_MAX)
    equal((second.succeeded, second.responses[0].response_range.kvs[0].value), (False, b"made"))


def check_delete():
    request = pb.DeleteRangeRequest(key=PREFIX + b"range/", range_end=PREFIX + b"range0", prev_kv=True)
    found = kv.DeleteRange(request, timeout=WAIT_MAX)
    equal((found.deleted, len(found.prev_kvs)), (5, 5))


def check_watch():
    requests = Requests()
    answers = watch.Watch(requests, timeout=WAIT_MAX)
    create = pb.WatchCreateRequest(key=PREFIX + b"watch/", range_end=PREFIX + b"watch0", prev_kv=True)
    requests.send(pb.WatchRequest(create_request=create))
    created = next(answers)
    equal(created.created, True)
    put(b"watch/a", b"1")
    kv.DeleteRange(pb.DeleteRangeRequest(key=PREFIX + b"watch/a"), timeout=WAIT_MAX)
    events = []
    while len(events) < 2:
        events.extend(next(answers).events)
    equal((events[0].type, events[0].kv.value, events[1].type, events[1].prev_kv.value), (0, b"1", 1, b"1"))
    requests.send(pb.WatchRequest(cancel_request=pb.WatchCancelRequest(watch_id=created.watch_id)))
    equal(next(answers).canceled, True)
    answers.cancel()
    requests.close()


def check_lease():
    granted = lease.LeaseGrant(pb.LeaseGrantRequest(TTL=60), timeout=WAIT_MAX).ID
    put(b"leased", b"v", lease=granted)
    requests = Requests()
    answers = lease.LeaseKeepAlive(requests, timeout=WAIT_MAX)
    for _ in range(3):
        requests.send(pb.LeaseKeepAliveRequest(ID=granted))
        equal(next(answers).TTL, 60)
    requests.close()
    equal(list(answers), [])
    lease.LeaseRevoke(pb.LeaseRevokeRequest(ID=granted), timeout=WAIT_MAX)
    equal(get(b"leased").count, 0)


def new_lease():
    return lease.LeaseGrant(pb.LeaseGrantRequest(TTL=60), timeout=WAIT_MAX).ID


def until_keys(name, count):
    while get(name, range_end=PREFIX + name[:-1] + b"0", count_only=True).count < count:
        time.sleep(0.01)


def check_lock():
    name = PREFIX + b"lock"
    first = lock.Lock(lpb.LockRequest(name=name, lease=new_lease()), timeout=WAIT_MAX)
    second = lock.Lock.future(lpb.LockRequest(name=name, lease=new_lease()), timeout=WAIT_MAX)
    third = lock.Lock.future(lpb.LockRequest(name=name, lease=new_lease()), timeout=WAIT_MAX)
    until_keys(b"lock/", 3)
    third.cancel()
    equal(second.done(), False)
    lock.Unlock(lpb.UnlockRequest(key=first.key), timeout=WAIT_MAX)
    lock.Unlock(lpb.UnlockRequest(key=second.result().key), timeout=WAIT_MAX)
    equal(get(b"lock/", range_end=PREFIX + b"lock0").count, 0)
    unknown = lpb.LockRequest(name=name, lease=4711)
    refused(lambda: lock.Lock(unknown, timeout=WAIT_MAX), grpc.StatusCode.UNKNOWN, "etcdserver: requested lease not found")


def check_election():
    name = PREFIX + b"election"
    first = election.Campaign(epb.CampaignRequest(name=name, lease=new_lease(), value=b"a"), timeout=WAIT_MAX).leader
    seen = election.Observe(epb.LeaderRequest(name=name), timeout=WAIT_MAX)
    equal(next(seen).kv.value, b"a")
    election.Proclaim(epb.ProclaimRequest(leader=first, value=b"b"), timeout=WAIT_MAX)
    equal(next(seen).kv.value, b"b")
    request = epb.CampaignRequest(name=name, lease=new_lease(), value=b"c")
    second = election.Campaign.future(request, timeout=WAIT_MAX)
    until_keys(b"election/", 2)
    equal(election.Leader(epb.LeaderRequest(name=name), timeout=WAIT_MAX).kv.value, b"b")
    election.Resign(epb.ResignRequest(leader=first), timeout=WAIT_MAX)
    equal(next(seen).kv.value, b"c")
    seen.cancel()
    election.Resign(epb.ResignRequest(leader=second.result().leader), timeout=WAIT_MAX)
    refused(lambda: election.Leader(epb.LeaderRequest(name=name), timeout=WAIT_MAX), grpc.StatusCode.UNKNOWN, "election: no leader")


def check_users():
    code = grpc.StatusCode
    with grpc.insecure_channel(os.environ["USERS_ENDPOINT"], options=OPTIONS) as other:
        log_in = rpc_pb2_grpc.AuthStub(other).Authenticate
        name, password = os.environ["USER_NAME"], os.environ["PASSWORD"]
        failed = "etcdserver: authentication failed, invalid user ID or password"
        wrong = pb.AuthenticateRequest(name=name, password="another")
        refused(lambda: log_in(wrong, timeout=WAIT_MAX), code.INVALID_ARGUMENT, failed)
        token = log_in(pb.AuthenticateRequest(name=name, password=password), timeout=WAIT_MAX).token
        user = dict(metadata=(("token", token),), timeout=WAIT_MAX)
        keys, locks = rpc_pb2_grpc.KVStub(other), v3lock_pb2_grpc.LockStub(other)
        keys.Put(pb.PutRequest(key=PREFIX + b"users", value=b"mine"), **user)
        equal(keys.Range(pb.RangeRequest(key=PREFIX + b"users"), **user).kvs[0].value, b"mine")
        denied = "etcdserver: permission denied"
        refused(lambda: keys.Put(pb.PutRequest(key=b"/elsewhere"), **user), code.PERMISSION_DENIED, denied)
        above = pb.RangeRequest(key=PREFIX, range_end=b"\0")
        refused(lambda: keys.Range(above, **user), code.PERMISSION_DENIED, denied)
        locked = locks.Lock(lpb.LockRequest(name=PREFIX + b"users-lock"), **user)
        locks.Unlock(lpb.UnlockRequest(key=locked.key), **user)
        elsewhere = lpb.LockRequest(name=b"/elsewhere")
        refused(lambda: locks.Lock(elsewhere, **user), code.UNKNOWN, denied)
        nobody = pb.RangeRequest(key=PREFIX)
        refused(lambda: keys.Range(nobody, timeout=WAIT_MAX), code.INVALID_ARGUMENT, "etcdserver: user name is empty")


def check_deadline():
    requests = Requests()
    refused(lambda: next(watch.Watch(requests, timeout=0.3)), grpc.StatusCode.DEADLINE_EXCEEDED)
    requests.close()


def check_cancel():
    requests = Requests()
    answers = watch.Watch(requests)
    answers.cancel()
    refused(lambda: next(answers), grpc.StatusCode.CANCELLED)
    requests.close()


def check_large_request():
    for at in range(LARGE_KEYS):
        put(b"large/%02d" % at, b"large" * (LARGE_BYTES // 5))


def check_large_answer():
    found = get(b"large/", range_end=PREFIX + b"large0")
    equal(sum(len(kv.value) for kv in found.kvs), LARGE_BYTES * LARGE_KEYS)
    kv.DeleteRange(pb.DeleteRangeRequest(key=PREFIX + b"large/", range_end=PREFIX + b"large0"), timeout=WAIT_MAX)


def check_too_large():
    refused(lambda: put(b"x", bytes(1_600_000)), grpc.StatusCode.INVALID_ARGUMENT, "etcdserver: request is too large")
    size = pb.PutRequest(key=PREFIX + b"x", value=bytes(3_000_000)).ByteSize()
    text = f"grpc: received message larger than max ({size} vs. 2097152)"
    refused(lambda: put(b"x", bytes(3_000_000)), grpc.StatusCode.RESOURCE_EXHAUSTED, text)


def check_errors():
    code = grpc.StatusCode
    refused(lambda: kv.Range(pb.RangeRequest()), code.INVALID_ARGUMENT, "etcdserver: key is not provided")
    text = "etcdserver: mvcc: required revision is a future revision"
    refused(lambda: get(b"a", revision=1 << 40), code.OUT_OF_RANGE, text)
    revoke = pb.LeaseRevokeRequest(ID=4711)
    refused(lambda: lease.LeaseRevoke(revoke), code.NOT_FOUND, "etcdserver: requested lease not found")
    nothing = channel.unary_unary("/etcdserverpb.KV/Nothing", lambda bytes: bytes, lambda bytes: bytes)
    refused(lambda: nothing(b""), code.UNIMPLEMENTED, "unknown method Nothing for service etcdserverpb.KV")


def check_metadata():
    metadata = (("hasleader", "true"), ("x-bin", b"\x00\xff\x01"), ("x-text", "a b"))
    kv.Range(pb.RangeRequest(key=PREFIX), timeout=WAIT_MAX, metadata=metadata)


def check_gzip():
    with grpc.insecure_channel(os.environ["ENDPOINT"], options=OPTIONS, compression=grpc.Compression.Gzip) as zipped:
        stub = rpc_pb2_grpc.KVStub(zipped)
        requests = Requests()
        answers = rpc_pb2_grpc.WatchStub(zipped).Watch(requests, timeout=WAIT_MAX)
        requests.send(pb.WatchRequest(create_request=pb.WatchCreateRequest(key=PREFIX + b"gzip")))
        equal(next(answers).created, True)
        value = b"compressible " * 15_000
        stub.Put(pb.PutRequest(key=PREFIX + b"gzip", value=value), timeout=WAIT_MAX)
        equal(stub.Range(pb.RangeRequest(key=PREFIX + b"gzip"), timeout=WAIT_MAX).kvs[0].value == value, True)
        equal(next(answers).events[0].kv.value == value, True)
        answers.cancel()
        requests.close()


def check_parallel():
    def one(at):
        key = b"parallel/%d" % at
        put(key, key)
        equal(get(key).kvs[0].value, key)

    with concurrent.futures.ThreadPoolExecutor(50) as pool:
        list(pool.map(one, range(1_000)))


def check_tls():
    with open(os.environ["CA_FILE"], "rb") as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    with grpc.secure_channel(os.environ["TLS_ENDPOINT"], credentials) as secure:
        rpc_pb2_grpc.KVStub(secure).Range(pb.RangeRequest(key=PREFIX), timeout=WAIT_MAX)


for name in (
    "kv range txn delete watch lease lock election users deadline cancel large-request large-answer too-large errors metadata"
    " gzip parallel tls"
).split():
    try:
        globals()["check_" + name.replace("-", "_")]()
        print("ok", name, flush=True)
    except Exception as error:
        print(f"FAILED {name}: {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
channel.close()
