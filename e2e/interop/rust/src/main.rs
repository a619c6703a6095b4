//! The checks of e2e/interop with the crate etcd-client on tonic, and with tonic alone where that shows more of gRPC:
//! see ../../README.md.

use etcd_client::{
    Certificate, Client, Compare, CompareOp, ConnectOptions, DeleteOptions, EventType, GetOptions,
    LockOptions, ProclaimOptions, PutOptions, ResignOptions, SortOrder, SortTarget, TlsOptions, Txn,
    TxnOp, TxnOpResponse, WatchOptions,
};
use std::error::Error;
use std::future::Future;
use std::time::Duration;
use tokio::time::timeout;
use tokio_stream::StreamExt;
use tonic::client::Grpc;
use tonic::codec::{CompressionEncoding, Streaming};
use tonic::codegen::http::uri::PathAndQuery;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};
use tonic::{Code, Request, Response, Status};
use tonic_prost::ProstCodec;

type Outcome = Result<(), Box<dyn Error>>;

const PREFIX: &str = "/interop/rust/";
const WAIT_MAX: Duration = Duration::from_secs(20);
const LARGE_BYTES: usize = 1_400_000;
const LARGE_KEYS: usize = 22;

// As much of rpc.proto as the calls below need.
#[derive(Clone, PartialEq, prost::Message)]
struct Put {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(bytes = "vec", tag = "2")]
    value: Vec<u8>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Range {
    #[prost(bytes = "vec", tag = "1")]
    key: Vec<u8>,
    #[prost(int64, tag = "4")]
    revision: i64,
}
#[derive(Clone, PartialEq, prost::Message)]
struct KeyValue {
    #[prost(bytes = "vec", tag = "5")]
    value: Vec<u8>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Found {
    #[prost(message, repeated, tag = "2")]
    kvs: Vec<KeyValue>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Id {
    #[prost(int64, tag = "1")]
    id: i64,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Watch {
    #[prost(message, optional, tag = "1")]
    create: Option<Put>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Event {
    #[prost(message, optional, tag = "2")]
    kv: Option<KeyValue>,
}
#[derive(Clone, PartialEq, prost::Message)]
struct Watched {
    #[prost(bool, tag = "3")]
    created: bool,
    #[prost(message, repeated, tag = "11")]
    events: Vec<Event>,
}

fn key(name: &str) -> String {
    format!("{PREFIX}{name}")
}

fn equal<T: PartialEq + std::fmt::Debug>(found: T, wanted: T) -> Outcome {
    if found == wanted {
        return Ok(());
    }
    Err(format!("{found:?}, and not {wanted:?}").into())
}

fn refused<T>(result: Result<T, Status>, code: Code, message: &str) -> Outcome {
    match result {
        Ok(_) => Err(format!("not refused: {message}").into()),
        Err(status) => equal((status.code(), status.message()), (code, message)),
    }
}

async fn check(name: &str, work: impl Future<Output = Outcome>) {
    match timeout(WAIT_MAX, work).await {
        Ok(Ok(())) => println!("ok {name}"),
        Ok(Err(error)) => println!("FAILED {name}: {error}"),
        Err(_) => println!("FAILED {name}: no end"),
    }
}

/// A call of a method that is not in any stub.
async fn unary<Q, A>(grpc: &mut Grpc<Channel>, path: &'static str, request: Request<Q>) -> Result<A, Status>
where
    Q: prost::Message + Default + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
    grpc.unary(request, PathAndQuery::from_static(path), ProstCodec::<Q, A>::default())
        .await
        .map(Response::into_inner)
}

async fn stream<Q, A>(
    grpc: &mut Grpc<Channel>,
    path: &'static str,
    request: Request<tokio_stream::wrappers::ReceiverStream<Q>>,
) -> Result<Streaming<A>, Status>
where
    Q: prost::Message + Default + Send + Sync + 'static,
    A: prost::Message + Default + Send + Sync + 'static,
{
    grpc.ready().await.map_err(|error| Status::unknown(error.to_string()))?;
    grpc.streaming(request, PathAndQuery::from_static(path), ProstCodec::<Q, A>::default())
        .await
        .map(Response::into_inner)
}

const WATCH: &str = "/etcdserverpb.Watch/Watch";
const PUT: &str = "/etcdserverpb.KV/Put";
const RANGE: &str = "/etcdserverpb.KV/Range";

#[tokio::main]
async fn main() -> Outcome {
    let endpoint = std::env::var("ENDPOINT")?;
    let client = Client::connect([&endpoint], None).await?;
    let channel = Endpoint::from_shared(format!("http://{endpoint}"))?.connect().await?;
    let grpc = Grpc::new(channel.clone());

    check("kv", kv(client.clone())).await;
    check("range", range(client.clone())).await;
    check("txn", txn(client.clone())).await;
    check("delete", delete(client.clone())).await;
    check("watch", watch(client.clone())).await;
    check("lease", lease(client.clone())).await;
    check("lock", lock(client.clone())).await;
    check("election", election(client.clone())).await;
    check("users", users()).await;
    check("deadline", deadline(grpc.clone())).await;
    check("cancel", cancel(grpc.clone())).await;
    check("large-request", large_request(client.clone())).await;
    check("large-answer", large_answer(client.clone())).await;
    check("too-large", too_large(grpc.clone())).await;
    check("errors", errors(grpc.clone())).await;
    check("metadata", metadata(grpc.clone())).await;
    let zipped = Grpc::new(channel)
        .send_compressed(CompressionEncoding::Gzip)
        .accept_compressed(CompressionEncoding::Gzip);
    check("gzip", gzip(zipped)).await;
    check("parallel", parallel(client.clone())).await;
    check("tls", tls()).await;
    Ok(())
}

async fn kv(mut client: Client) -> Outcome {
    let value = b"value\x00\xfe".to_vec();
    let put = client.put(key("\0x"), value.clone(), None).await?;
    let found = client.get(key("\0x"), None).await?;
    equal(found.kvs()[0].value(), &value[..])?;
    equal(Some(found.kvs()[0].mod_revision()), put.header().map(|header| header.revision()))
}

async fn range(mut client: Client) -> Outcome {
    for at in 0..5 {
        client.put(key(&format!("range/{at}")), "v", None).await?;
    }
    let options = GetOptions::new().with_prefix().with_limit(2).with_sort(SortTarget::Key, SortOrder::Descend);
    let found = client.get(key("range/"), Some(options)).await?;
    equal((found.count(), found.more(), found.kvs().len()), (5, true, 2))?;
    equal(found.kvs()[0].key_str()?, key("range/4").as_str())
}

async fn txn(mut client: Client) -> Outcome {
    for wanted in [true, false] {
        let txn = Txn::new()
            .when([Compare::create_revision(key("txn"), CompareOp::Equal, 0)])
            .and_then([TxnOp::put(key("txn"), "made", None)])
            .or_else([TxnOp::get(key("txn"), None)]);
        let found = client.txn(txn).await?;
        equal(found.succeeded(), wanted)?;
        if let Some(TxnOpResponse::Get(got)) = found.op_responses().into_iter().next() {
            equal(got.kvs()[0].value_str()?, "made")?;
        }
    }
    Ok(())
}

async fn delete(mut client: Client) -> Outcome {
    let options = DeleteOptions::new().with_prefix().with_prev_key();
    let found = client.delete(key("range/"), Some(options)).await?;
    equal((found.deleted(), found.prev_kvs().len()), (5, 5))
}

async fn watch(mut client: Client) -> Outcome {
    let options = WatchOptions::new().with_prefix().with_prev_key();
    let mut watcher = client.watch(key("watch/"), Some(options)).await?;
    client.put(key("watch/a"), "1", None).await?;
    client.delete(key("watch/a"), None).await?;
    let mut events = Vec::new();
    let mut id = 0;
    while events.len() < 2 {
        let answer = watcher.message().await?.ok_or("the stream has ended")?;
        id = answer.watch_id();
        events.extend(answer.events().iter().cloned());
    }
    equal((events[0].event_type(), events[1].event_type()), (EventType::Put, EventType::Delete))?;
    equal(events[1].prev_kv().map(|kv| kv.value().to_vec()), Some(b"1".to_vec()))?;
    watcher.cancel(id).await?;
    equal(watcher.message().await?.map(|answer| answer.canceled()), Some(true))
}

async fn lease(mut client: Client) -> Outcome {
    let id = client.lease_grant(60, None).await?.id();
    client.put(key("leased"), "v", Some(PutOptions::new().with_lease(id))).await?;
    let (mut keeper, mut answers) = client.lease_keep_alive(id).await?;
    for _ in 0..3 {
        keeper.keep_alive().await?;
        equal(answers.message().await?.map(|answer| answer.ttl()), Some(60))?;
    }
    client.lease_revoke(id).await?;
    equal(client.get(key("leased"), None).await?.count(), 0)
}

async fn lock(mut client: Client) -> Outcome {
    let first = client.lease_grant(60, None).await?.id();
    let second = client.lease_grant(60, None).await?.id();
    let held = client.lock(key("lock"), Some(LockOptions::new().with_lease(first))).await?;
    let mut other = client.clone();
    let waiting = tokio::spawn(async move {
        other.lock(key("lock"), Some(LockOptions::new().with_lease(second))).await
    });
    until_keys(&mut client, "lock/", 2).await?;
    equal(waiting.is_finished(), false)?;
    client.unlock(held.key()).await?;
    let next = waiting.await??;
    client.unlock(next.key()).await?;
    let left = client.get(key("lock/"), Some(GetOptions::new().with_prefix())).await?;
    equal(left.count(), 0)
}

async fn election(mut client: Client) -> Outcome {
    let first = client.lease_grant(60, None).await?.id();
    let second = client.lease_grant(60, None).await?.id();
    let leads = client.campaign(key("election"), "a", first).await?.take_leader().ok_or("no leader")?;
    let mut seen = client.observe(key("election")).await?;
    let mut value = async || -> Result<Vec<u8>, Box<dyn Error>> {
        let mut message = seen.message().await?.ok_or("the stream has ended")?;
        Ok(message.take_kv().ok_or("no leader")?.value().to_vec())
    };
    equal(value().await?, b"a".to_vec())?;
    client.proclaim("b", Some(ProclaimOptions::new().with_leader(leads.clone()))).await?;
    equal(value().await?, b"b".to_vec())?;
    let mut other = client.clone();
    let waiting = tokio::spawn(async move { other.campaign(key("election"), "c", second).await });
    until_keys(&mut client, "election/", 2).await?;
    let leader = client.leader(key("election")).await?;
    equal(leader.kv().map(|kv| kv.value().to_vec()), Some(b"b".to_vec()))?;
    client.resign(Some(ResignOptions::new().with_leader(leads))).await?;
    equal(value().await?, b"c".to_vec())?;
    let next = waiting.await??.take_leader().ok_or("no leader")?;
    client.resign(Some(ResignOptions::new().with_leader(next))).await?;
    Ok(())
}

async fn until_keys(client: &mut Client, name: &str, count: i64) -> Outcome {
    while client.get(key(name), Some(GetOptions::new().with_prefix())).await?.count() < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    Ok(())
}

async fn users() -> Outcome {
    let endpoint = std::env::var("USERS_ENDPOINT")?;
    let (name, password) = (std::env::var("USER_NAME")?, std::env::var("PASSWORD")?);
    let wrong = ConnectOptions::new().with_user(name.clone(), "another");
    let failed = "etcdserver: authentication failed, invalid user ID or password";
    denied(Client::connect([&endpoint], Some(wrong)).await.map(|_| ()), Code::InvalidArgument, failed)?;
    let mut client = Client::connect([&endpoint], Some(ConnectOptions::new().with_user(name, password))).await?;
    client.put(key("users"), "mine", None).await?;
    equal(client.get(key("users"), None).await?.kvs()[0].value_str()?, "mine")?;
    let text = "etcdserver: permission denied";
    denied(client.put("/elsewhere", "", None).await, Code::PermissionDenied, text)?;
    let above = GetOptions::new().with_from_key();
    denied(client.get(key(""), Some(above)).await, Code::PermissionDenied, text)?;
    let locked = client.lock(key("users-lock"), None).await?;
    client.unlock(locked.key()).await?;
    denied(client.lock("/elsewhere", None).await, Code::Unknown, text)?;
    let mut nobody = Client::connect([&endpoint], None).await?;
    denied(nobody.get(key("users"), None).await, Code::InvalidArgument, "etcdserver: user name is empty")
}

fn denied<T>(result: Result<T, etcd_client::Error>, code: Code, message: &str) -> Outcome {
    match result {
        Err(etcd_client::Error::GRpcStatus(status)) => equal((status.code(), status.message()), (code, message)),
        Err(error) => Err(error.into()),
        Ok(_) => Err(format!("not refused: {message}").into()),
    }
}

/// A watch without watchers, which answers nothing.
async fn silent(grpc: &mut Grpc<Channel>, limit: Option<Duration>) -> Result<(), Status> {
    let (_requests, receiver) = tokio::sync::mpsc::channel::<Watch>(1);
    let mut request = Request::new(tokio_stream::wrappers::ReceiverStream::new(receiver));
    if let Some(limit) = limit {
        request.set_timeout(limit);
    }
    let mut answers: Streaming<Watched> = stream(grpc, WATCH, request).await?;
    answers.message().await.map(|_| ())
}

async fn deadline(mut grpc: Grpc<Channel>) -> Outcome {
    let status = silent(&mut grpc, Some(Duration::from_millis(300))).await.err();
    // Whichever of the two is first: tonic calls it a cancellation when its own clock ends the call.
    let code = status.map(|status| status.code());
    equal(code == Some(Code::DeadlineExceeded) || code == Some(Code::Cancelled), true)
}

async fn cancel(mut grpc: Grpc<Channel>) -> Outcome {
    // Dropping the call is how tonic cancels.
    equal(timeout(Duration::from_millis(200), silent(&mut grpc, None)).await.is_err(), true)?;
    let range = Range { key: key("kv").into(), revision: 0 };
    unary::<Range, Found>(&mut grpc, RANGE, Request::new(range)).await?;
    Ok(())
}

async fn large_request(mut client: Client) -> Outcome {
    let large = "large".repeat(LARGE_BYTES / 5);
    for at in 0..LARGE_KEYS {
        client.put(key(&format!("large/{at:02}")), large.as_str(), None).await?;
    }
    Ok(())
}

async fn large_answer(client: Client) -> Outcome {
    let mut kv = client.kv_client().max_decoding_message_size(64 << 20);
    let found = kv.get(key("large/"), Some(GetOptions::new().with_prefix())).await?;
    let bytes: usize = found.kvs().iter().map(|kv| kv.value().len()).sum();
    equal(bytes, LARGE_BYTES * LARGE_KEYS)?;
    kv.delete(key("large/"), Some(DeleteOptions::new().with_prefix())).await?;
    Ok(())
}

async fn too_large(mut grpc: Grpc<Channel>) -> Outcome {
    let put = |bytes| Put { key: key("x").into(), value: vec![0; bytes] };
    let large: Result<Found, Status> = unary(&mut grpc, PUT, Request::new(put(1_600_000))).await;
    refused(large, Code::InvalidArgument, "etcdserver: request is too large")?;
    let size = prost::Message::encoded_len(&put(3_000_000));
    let larger: Result<Found, Status> = unary(&mut grpc, PUT, Request::new(put(3_000_000))).await;
    let message = format!("grpc: received message larger than max ({size} vs. 2097152)");
    refused(larger, Code::ResourceExhausted, &message)
}

async fn errors(mut grpc: Grpc<Channel>) -> Outcome {
    let empty: Result<Found, Status> = unary(&mut grpc, RANGE, Request::new(Range::default())).await;
    refused(empty, Code::InvalidArgument, "etcdserver: key is not provided")?;
    let range = Range { key: b"a".to_vec(), revision: 1 << 40 };
    let future: Result<Found, Status> = unary(&mut grpc, RANGE, Request::new(range)).await;
    refused(future, Code::OutOfRange, "etcdserver: mvcc: required revision is a future revision")?;
    let path = "/etcdserverpb.Lease/LeaseRevoke";
    let revoked: Result<Found, Status> = unary(&mut grpc, path, Request::new(Id { id: 4711 })).await;
    refused(revoked, Code::NotFound, "etcdserver: requested lease not found")?;
    let path = "/etcdserverpb.KV/Nothing";
    let nothing: Result<Found, Status> = unary(&mut grpc, path, Request::new(Range::default())).await;
    refused(nothing, Code::Unimplemented, "unknown method Nothing for service etcdserverpb.KV")
}

async fn metadata(mut grpc: Grpc<Channel>) -> Outcome {
    let mut request = Request::new(Range { key: key("x").into(), revision: 0 });
    request.metadata_mut().insert("hasleader", MetadataValue::from_static("true"));
    request.metadata_mut().insert("x-text", MetadataValue::from_static("a b"));
    request.metadata_mut().insert_bin("x-bin", MetadataValue::from_bytes(&[0, 0xff, 1]));
    unary::<Range, Found>(&mut grpc, RANGE, request).await?;
    Ok(())
}

async fn gzip(mut grpc: Grpc<Channel>) -> Outcome {
    let value = b"compressible ".repeat(15_000);
    let (requests, receiver) = tokio::sync::mpsc::channel::<Watch>(1);
    let create = Put { key: key("gzip").into(), value: Vec::new() };
    requests.send(Watch { create: Some(create) }).await?;
    let request = Request::new(tokio_stream::wrappers::ReceiverStream::new(receiver));
    let mut answers: Streaming<Watched> = stream(&mut grpc, WATCH, request).await?;
    equal(answers.next().await.transpose()?.map(|answer| answer.created), Some(true))?;
    let put = Put { key: key("gzip").into(), value: value.clone() };
    unary::<Put, Found>(&mut grpc, PUT, Request::new(put)).await?;
    let range = Range { key: key("gzip").into(), revision: 0 };
    let found: Found = unary(&mut grpc, RANGE, Request::new(range)).await?;
    equal(found.kvs[0].value == value, true)?;
    let event = answers.next().await.transpose()?.and_then(|answer| answer.events.into_iter().next());
    equal(event.and_then(|event| event.kv).map(|kv| kv.value == value), Some(true))
}

async fn parallel(client: Client) -> Outcome {
    let mut all = tokio::task::JoinSet::new();
    for at in 0..1_000 {
        let mut client = client.clone();
        all.spawn(async move {
            let key = key(&format!("parallel/{at}"));
            client.put(key.as_str(), key.as_str(), None).await?;
            let found = client.get(key.as_str(), None).await?;
            Ok::<bool, etcd_client::Error>(found.kvs()[0].value() == key.as_bytes())
        });
    }
    while let Some(one) = all.join_next().await {
        equal(one??, true)?;
    }
    Ok(())
}

async fn tls() -> Outcome {
    let pem = std::fs::read(std::env::var("CA_FILE")?)?;
    let options = TlsOptions::new().ca_certificate(Certificate::from_pem(pem)).domain_name("localhost");
    let endpoint = format!("https://{}", std::env::var("TLS_ENDPOINT")?);
    let mut client = Client::connect([endpoint], Some(ConnectOptions::new().with_tls(options))).await?;
    client.get(key("kv"), None).await?;
    Ok(())
}
