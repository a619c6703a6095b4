import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Election;
import io.etcd.jetcd.KV;
import io.etcd.jetcd.Watch;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.LeaseGrpc;
import io.etcd.jetcd.api.LeaseKeepAliveRequest;
import io.etcd.jetcd.api.LeaseRevokeRequest;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RangeResponse;
import io.etcd.jetcd.api.WatchCreateRequest;
import io.etcd.jetcd.api.WatchGrpc;
import io.etcd.jetcd.api.WatchRequest;
import io.etcd.jetcd.api.WatchResponse;
import io.etcd.jetcd.election.LeaderResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.grpc.CallOptions;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.File;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The checks of e2e/interop with jetcd and the stubs of grpc-java that it brings: see ../README.md. */
public final class Client {
  private static final String PREFIX = "/interop/java/";
  private static final int WAIT_MAX_SECONDS = 20;
  private static final int LARGE_BYTES = 1_400_000;
  private static final int LARGE_KEYS = 22;

  private final io.etcd.jetcd.Client jetcd =
      io.etcd.jetcd.Client.builder()
          .endpoints("http://" + System.getenv("ENDPOINT"))
          .maxInboundMessageSize(64 << 20)
          .build();
  private final KV kv = jetcd.getKVClient();
  private final ManagedChannel channel =
      Grpc.newChannelBuilder(System.getenv("ENDPOINT"), InsecureChannelCredentials.create())
          .maxInboundMessageSize(64 << 20)
          .build();

  private interface Work {
    void run() throws Exception;
  }

  public static void main(String[] args) {
    var client = new Client();
    check("kv", client::kv);
    check("range", client::range);
    check("txn", client::txn);
    check("delete", client::delete);
    check("watch", client::watch);
    check("lease", client::lease);
    check("lock", client::lock);
    check("election", client::election);
    check("users", client::users);
    check("deadline", client::deadline);
    check("cancel", client::cancel);
    check("large-request", client::largeRequest);
    check("large-answer", client::largeAnswer);
    check("too-large", client::tooLarge);
    check("errors", client::errors);
    check("metadata", client::metadata);
    check("gzip", client::gzip);
    check("parallel", client::parallel);
    check("tls", client::tls);
    System.exit(0);
  }

  private static void check(String name, Work work) {
    try {
      work.run();
      System.out.println("ok " + name);
    } catch (Throwable error) {
      System.out.println("FAILED " + name + ": " + error.toString().replace('\n', ' '));
    }
  }

  private void kv() throws Exception {
    var key = key("\0\u00ff");
    var value = ByteSequence.from(new byte[] {'v', 0, -1, -2});
    var put = await(kv.put(key, value));
    var found = await(kv.get(key)).getKvs().get(0);
    equal(found.getValue(), value);
    equal(found.getModRevision(), put.getHeader().getRevision());
  }

  private void range() throws Exception {
    for (var at = 0; at < 5; at += 1) await(kv.put(key("range/" + at), text("v")));
    var options =
        GetOption.builder()
            .isPrefix(true)
            .withLimit(2)
            .withSortField(GetOption.SortTarget.KEY)
            .withSortOrder(GetOption.SortOrder.DESCEND)
            .build();
    var found = await(kv.get(key("range/"), options));
    equal(found.getCount(), 5L);
    equal(found.isMore(), true);
    equal(found.getKvs().get(0).getKey(), key("range/4"));
  }

  private void txn() throws Exception {
    var key = key("txn");
    for (var wanted : new boolean[] {true, false}) {
      var found =
          await(
              kv.txn()
                  .If(new Cmp(key, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                  .Then(Op.put(key, text("made"), PutOption.DEFAULT))
                  .Else(Op.get(key, GetOption.DEFAULT))
                  .commit());
      equal(found.isSucceeded(), wanted);
      if (!wanted) equal(found.getGetResponses().get(0).getKvs().get(0).getValue(), text("made"));
    }
  }

  private void delete() throws Exception {
    var options = DeleteOption.builder().isPrefix(true).withPrevKV(true).build();
    var found = await(kv.delete(key("range/"), options));
    equal(found.getDeleted(), 5L);
    equal(found.getPrevKvs().size(), 5);
  }

  private void watch() throws Exception {
    BlockingQueue<WatchEvent> events = new LinkedBlockingQueue<>();
    var created = new CompletableFuture<Void>();
    var ended = new CompletableFuture<Void>();
    var options = WatchOption.builder().isPrefix(true).withPrevKV(true).withCreateNotify(true).build();
    var listener =
        Watch.listener(
            response -> {
              if (response.isCreatedNotify()) created.complete(null);
              events.addAll(response.getEvents());
            },
            created::completeExceptionally,
            () -> ended.complete(null));
    try (var watcher = jetcd.getWatchClient().watch(key("watch/"), options, listener)) {
      await(created);
      await(kv.put(key("watch/a"), text("1")));
      await(kv.delete(key("watch/a")));
      var put = events.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
      var delete = events.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
      equal(put.getEventType(), WatchEvent.EventType.PUT);
      equal(delete.getEventType(), WatchEvent.EventType.DELETE);
      equal(delete.getPrevKV().getValue(), text("1"));
    }
    await(ended);
  }

  private void lease() throws Exception {
    var leases = jetcd.getLeaseClient();
    var id = await(leases.grant(60)).getID();
    await(kv.put(key("leased"), text("v"), PutOption.builder().withLeaseId(id).build()));
    var answers = new Answers<io.etcd.jetcd.api.LeaseKeepAliveResponse>();
    var requests = LeaseGrpc.newStub(channel).leaseKeepAlive(answers);
    for (var at = 0; at < 3; at += 1) {
      requests.onNext(LeaseKeepAliveRequest.newBuilder().setID(id).build());
      equal(answers.next().getTTL(), 60L);
    }
    requests.onCompleted();
    equal(answers.end().getCode(), Status.Code.OK);
    await(leases.revoke(id));
    equal(await(kv.get(key("leased"))).getCount(), 0L);
  }

  private void lock() throws Exception {
    var locks = jetcd.getLockClient();
    var first = await(locks.lock(key("lock"), newLease()));
    var second = locks.lock(key("lock"), newLease());
    untilKeys("lock/", 2);
    equal(second.isDone(), false);
    await(locks.unlock(first.getKey()));
    await(locks.unlock(await(second).getKey()));
    equal(await(kv.get(key("lock/"), GetOption.builder().isPrefix(true).build())).getCount(), 0L);
  }

  private void election() throws Exception {
    var elections = jetcd.getElectionClient();
    var first = await(elections.campaign(key("election"), newLease(), text("a"))).getLeader();
    BlockingQueue<String> seen = new LinkedBlockingQueue<>();
    elections.observe(
        key("election"),
        new Election.Listener() {
          @Override
          public void onNext(LeaderResponse leader) {
            seen.add(leader.getKv().getValue().toString());
          }

          @Override
          public void onError(Throwable error) {
            seen.add(error.toString());
          }

          @Override
          public void onCompleted() {
            seen.add("completed");
          }
        });
    equal(seen.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS), "a");
    await(elections.proclaim(first, text("b")));
    equal(seen.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS), "b");
    var second = elections.campaign(key("election"), newLease(), text("c"));
    untilKeys("election/", 2);
    equal(await(elections.leader(key("election"))).getKv().getValue().toString(), "b");
    await(elections.resign(first));
    equal(seen.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS), "c");
    await(elections.resign(await(second).getLeader()));
  }

  private void users() throws Exception {
    var failed = "etcdserver: authentication failed, invalid user ID or password";
    try (var wrong = asUser("another")) {
      refused(wrong.getKVClient().get(key("users")), failed);
    }
    try (var user = asUser(System.getenv("PASSWORD"))) {
      var keys = user.getKVClient();
      await(keys.put(key("users"), text("mine")));
      equal(await(keys.get(key("users"))).getKvs().get(0).getValue(), text("mine"));
      var denied = "etcdserver: permission denied";
      refused(keys.put(text("/elsewhere"), text("")), denied);
      var above = GetOption.builder().withRange(ByteSequence.from(new byte[] {0})).build();
      refused(keys.get(key(""), above), denied);
      var locks = user.getLockClient();
      var locked = await(locks.lock(key("users-lock"), await(user.getLeaseClient().grant(60)).getID()));
      await(locks.unlock(locked.getKey()));
      refused(locks.lock(text("/elsewhere"), await(user.getLeaseClient().grant(60)).getID()), denied);
    }
    try (var nobody = io.etcd.jetcd.Client.builder().endpoints("http://" + System.getenv("USERS_ENDPOINT")).build()) {
      refused(nobody.getKVClient().get(key("users")), "etcdserver: user name is empty");
    }
  }

  private static io.etcd.jetcd.Client asUser(String password) {
    return io.etcd.jetcd.Client.builder()
        .endpoints("http://" + System.getenv("USERS_ENDPOINT"))
        .user(text(System.getenv("USER_NAME")))
        .password(text(password))
        .build();
  }

  /** jetcd has exceptions of its own, with the text of the status in them. */
  private static void refused(CompletableFuture<?> call, String message) throws Exception {
    try {
      await(call);
    } catch (java.util.concurrent.ExecutionException error) {
      for (Throwable cause = error; cause != null; cause = cause.getCause()) {
        if (String.valueOf(cause.getMessage()).endsWith(message)) return;
      }
      throw error;
    }
    throw new AssertionError("not refused: " + message);
  }

  private long newLease() throws Exception {
    return await(jetcd.getLeaseClient().grant(60)).getID();
  }

  private void untilKeys(String prefix, long count) throws Exception {
    while (await(kv.get(key(prefix), GetOption.builder().isPrefix(true).build())).getCount() < count) {
      Thread.sleep(10);
    }
  }

  private void deadline() throws Exception {
    var answers = new Answers<WatchResponse>();
    WatchGrpc.newStub(channel).withDeadlineAfter(300, TimeUnit.MILLISECONDS).watch(answers);
    equal(answers.end().getCode(), Status.Code.DEADLINE_EXCEEDED);
  }

  private void cancel() throws Exception {
    var answers = new Answers<WatchResponse>();
    var requests = (io.grpc.stub.ClientCallStreamObserver<WatchRequest>) WatchGrpc.newStub(channel).watch(answers);
    requests.cancel("no more", null);
    equal(answers.end().getCode(), Status.Code.CANCELLED);
  }

  private void largeRequest() throws Exception {
    var large = text("large".repeat(LARGE_BYTES / 5));
    for (var at = 0; at < LARGE_KEYS; at += 1) await(kv.put(key(String.format("large/%02d", at)), large));
  }

  private void largeAnswer() throws Exception {
    var found = await(kv.get(key("large/"), GetOption.builder().isPrefix(true).build()));
    var bytes = found.getKvs().stream().mapToLong(each -> each.getValue().size()).sum();
    equal(bytes, (long) LARGE_BYTES * LARGE_KEYS);
    await(kv.delete(key("large/"), DeleteOption.builder().isPrefix(true).build()));
  }

  private void tooLarge() {
    var stub = KVGrpc.newBlockingStub(channel).withDeadlineAfter(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
    var large = PutRequest.newBuilder().setKey(bytes("x")).setValue(ByteString.copyFrom(new byte[1_600_000])).build();
    refused(() -> stub.put(large), Status.Code.INVALID_ARGUMENT, "etcdserver: request is too large");
    var larger = PutRequest.newBuilder().setKey(bytes("x")).setValue(ByteString.copyFrom(new byte[3_000_000])).build();
    var message = "grpc: received message larger than max (" + larger.getSerializedSize() + " vs. 2097152)";
    refused(() -> stub.put(larger), Status.Code.RESOURCE_EXHAUSTED, message);
  }

  private void errors() {
    var stub = KVGrpc.newBlockingStub(channel).withDeadlineAfter(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
    var leases = LeaseGrpc.newBlockingStub(channel).withDeadlineAfter(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
    refused(
        () -> stub.range(RangeRequest.getDefaultInstance()),
        Status.Code.INVALID_ARGUMENT,
        "etcdserver: key is not provided");
    refused(
        () -> stub.range(RangeRequest.newBuilder().setKey(bytes("a")).setRevision(1L << 40).build()),
        Status.Code.OUT_OF_RANGE,
        "etcdserver: mvcc: required revision is a future revision");
    refused(
        () -> leases.leaseRevoke(LeaseRevokeRequest.newBuilder().setID(4711).build()),
        Status.Code.NOT_FOUND,
        "etcdserver: requested lease not found");
    var nothing = KVGrpc.getRangeMethod().toBuilder().setFullMethodName("etcdserverpb.KV/Nothing").build();
    refused(
        () -> ClientCalls.blockingUnaryCall(channel, nothing, CallOptions.DEFAULT, RangeRequest.getDefaultInstance()),
        Status.Code.UNIMPLEMENTED,
        "unknown method Nothing for service etcdserverpb.KV");
  }

  private void metadata() {
    var metadata = new Metadata();
    metadata.put(Metadata.Key.of("hasleader", Metadata.ASCII_STRING_MARSHALLER), "true");
    metadata.put(Metadata.Key.of("x-text", Metadata.ASCII_STRING_MARSHALLER), "a b");
    metadata.put(Metadata.Key.of("x-bin", Metadata.BINARY_BYTE_MARSHALLER), new byte[] {0, -1, 1});
    KVGrpc.newBlockingStub(channel)
        .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(metadata))
        .range(RangeRequest.newBuilder().setKey(bytes("x")).build());
  }

  private void gzip() throws Exception {
    var stub = KVGrpc.newBlockingStub(channel).withCompression("gzip");
    var answers = new Answers<WatchResponse>();
    var requests =
        (io.grpc.stub.ClientCallStreamObserver<WatchRequest>)
            WatchGrpc.newStub(channel).withCompression("gzip").watch(answers);
    var create = WatchCreateRequest.newBuilder().setKey(bytes("gzip"));
    requests.onNext(WatchRequest.newBuilder().setCreateRequest(create).build());
    equal(answers.next().getCreated(), true);
    var value = ByteString.copyFromUtf8("compressible ".repeat(15_000));
    stub.put(PutRequest.newBuilder().setKey(bytes("gzip")).setValue(value).build());
    RangeResponse found = stub.range(RangeRequest.newBuilder().setKey(bytes("gzip")).build());
    equal(found.getKvs(0).getValue().equals(value), true);
    equal(answers.next().getEvents(0).getKv().getValue().equals(value), true);
    requests.cancel("enough", null);
  }

  private void parallel() throws Exception {
    List<CompletableFuture<Boolean>> all = new ArrayList<>();
    for (var at = 0; at < 1_000; at += 1) {
      var key = key("parallel/" + at);
      all.add(
          kv.put(key, key)
              .thenCompose(put -> kv.get(key))
              .thenApply(found -> found.getKvs().get(0).getValue().equals(key)));
    }
    for (var one : all) equal(await(one), true);
  }

  private void tls() throws Exception {
    var credentials = TlsChannelCredentials.newBuilder().trustManager(new File(System.getenv("CA_FILE"))).build();
    var secure = Grpc.newChannelBuilder(System.getenv("TLS_ENDPOINT"), credentials).build();
    KVGrpc.newBlockingStub(secure)
        .withDeadlineAfter(WAIT_MAX_SECONDS, TimeUnit.SECONDS)
        .range(RangeRequest.newBuilder().setKey(bytes("x")).build());
    secure.shutdownNow();
  }

  /** What comes on a stream, and how it ends. */
  private static final class Answers<T> implements StreamObserver<T> {
    private final BlockingQueue<T> messages = new LinkedBlockingQueue<>();
    private final CompletableFuture<Status> status = new CompletableFuture<>();

    @Override
    public void onNext(T message) {
      messages.add(message);
    }

    @Override
    public void onError(Throwable error) {
      status.complete(Status.fromThrowable(error));
    }

    @Override
    public void onCompleted() {
      status.complete(Status.OK);
    }

    T next() throws Exception {
      var message = messages.poll(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
      if (message == null) throw new AssertionError("no answer: " + status.getNow(null));
      return message;
    }

    Status end() throws Exception {
      return await(status);
    }
  }

  private static <T> T await(CompletableFuture<T> future) throws Exception {
    return future.get(WAIT_MAX_SECONDS, TimeUnit.SECONDS);
  }

  private static void refused(Runnable work, Status.Code code, String message) {
    try {
      work.run();
    } catch (StatusRuntimeException error) {
      equal(error.getStatus().getCode() + " " + error.getStatus().getDescription(), code + " " + message);
      return;
    }
    throw new AssertionError("not refused: " + message);
  }

  private static void equal(Object found, Object wanted) {
    if (!found.equals(wanted)) throw new AssertionError(found + ", and not " + wanted);
  }

  private static ByteSequence text(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  private static ByteSequence key(String name) {
    return text(PREFIX + name);
  }

  private static ByteString bytes(String name) {
    return ByteString.copyFromUtf8(PREFIX + name);
  }
}
