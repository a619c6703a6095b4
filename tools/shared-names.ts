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

/** Values on faces that no file here asks for, each with its reason. */
export const offeredValues: Readonly<Record<string, string>> = {
  'tikv-client': 'a client for other programs too: its README says what it offers',
};
