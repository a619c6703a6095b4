import type { NamesInside } from './name-check.ts';

/**
 * Names on the faces (index.ts) of more than one package, each with its reason. One word has one meaning: a new name here needs
 * a reason, or another name for the rarer thing. docs/GLOSSARY.md says what the words mean.
 */
export const sharedNames: Readonly<Record<string, string>> = {
  AuthSettings: 'member hands on what etcd-api has, so that server needs one package of the two',
  Entry: "raft-ts: an entry of Raft's log; tikv-client: a key and its value in a scan, as TiKV's clients say",
  ErrorCode: "core: the codes of EngramError; http2: the RFC's name of its error codes",
  Init: 'wire hands on what protobuf has, so that users of messages need one package',
  KeyVersions: 'sequencer: what it asks of an index; tikv-client: all that a store has of a key, for its tools',
  Member: "election: etcd's member as it is agreed on; etcd-api: as its messages show it; member: the running one",
  Role: 'auth: of a user, with permissions, as etcd says; raft-ts: of a member, as Raft says',
  Snapshot: "raft-ts: of Raft's log; tikv-client: a view of TiKV at a timestamp. Both are the word of their field",
  Speaker: "member's port has the members as numbers, election as its own ids; who sent a message, in both",
  TlsOptions: 'transport: of a server; tikv-client: of a client. The two are never imported together',
  WireError: 'wire hands on what protobuf has, as with Init',
  Writer: 'protobuf: of one message; writer: of the log',
};

/** Names that files of more than one package export, where at most one of them has the name on its face. */
export const namesInside: readonly NamesInside[] = [
  {
    names: 'ACKNOWLEDGED_FILE CheckpointStore Found RECORD_HEADER_BYTES RecordReader inspectDirectory listIfThere',
    why: 'the same parts of two adapters of one port, storage-leveldb and storage-segment',
  },
  { names: 'LogTail openMark readMark writeRecordHeader', why: 'the same parts of two or three adapters of storage' },
  {
    names: 'FRAME_HEADER_BYTES FrameReader Frame',
    why: 'of HTTP/2, of a segment file, and of a stack: the word of each field',
  },
  {
    names: 'MESSAGE_PREFIX_BYTES MessageStream StreamHost',
    why: 'gRPC as a server (transport) and as a client (tikv-client)',
  },
  { names: 'badBytes decodeOrRefuse', why: 'raft-ts and election read bytes alike, each with an error of its own' },
  {
    names: 'MessageReceiver faultOf',
    why: 'why a message is not taken: raft-ts by the rules of Raft, election by the member list',
  },
  {
    names: 'Follower Leader',
    why: "raft-ts: a member's role; member: who follows, or leads, the store; migration: who follows an etcd",
  },
  { names: 'Candidate', why: 'raft-ts: for leadership; storage-segment: for cleaning' },
  {
    names: 'Heartbeat',
    why: "raft-ts: the leader's message; tikv-client: what keeps a transaction's locks alive. The word of each field",
  },
  { names: 'Message', why: 'raft-ts: of Raft; wire: of gRPC. The word of each field' },
  { names: 'Call CallParts', why: 'what a call of each client, or of the gateway, is made of' },
  {
    names: 'Change',
    why: 'of one decision (sequencer), and of a followed etcd (migration)',
  },
  {
    names: 'EtcdClient Endpoint FlagSpec commands',
    why: 'engramctl has a client and flags of its own: it imports no node',
  },
  {
    names: 'History',
    why: 'of keys: what watchers read (watch-hub), what a restore takes (importer), what is printed (engramctl)',
  },
  {
    names: 'Mark decodeBatch',
    why: 'of the log, read by two layers: storage-tikv its bytes, backend its meaning, sim its model',
  },
  { names: 'Meta', why: 'a meta page is the word of bbolt; of storage-segment it is what else its directory keeps' },
  { names: 'Protocol Sender', why: 'of an exporter of metrics, and of a connection' },
  { names: 'Reading', why: 'of a metric, and of history' },
  { names: 'Recovered', why: 'what a start has found: in the files (storage-segment), in the log (backend)' },
  { names: 'Timed', why: 'an item of a heap of times (lease), of a wheel of times (transport)' },
  { names: 'hex', why: 'one line, in packages that may not import each other' },
  {
    names: 'linesOf payloadBytes rangeOf refusalOf refusing snapshotOf statusOf viewOf',
    why: 'functions named after what they give, of their own types',
  },
];

/** Values on faces that no file here asks for, each with its reason. */
export const offeredValues: Readonly<Record<string, string>> = {
  'tikv-client': 'a client for other programs too: its README says what it offers',
};
