import { Server, ServerCredentials, type ServerDuplexStream, type ServerUnaryCall, status } from '@grpc/grpc-js';
import { etcdserverpb as pb } from '@engram/wire';

export interface FakeAnswers {
  readonly status: pb.StatusResponseInit;
  /** The ids of the list of members. */
  readonly members?: readonly bigint[];
  /** False: no linearizable read is served. */
  readonly reads?: boolean;
  /** Why a login is refused. */
  readonly login?: string;
  /** Calls that are taken and never answered. */
  readonly hangs?: readonly string[];
}

type Done = (error: object | null, answer?: Buffer) => void;

const METHODS = [
  ['Maintenance', 'Status'],
  ['Maintenance', 'Alarm'],
  ['Cluster', 'MemberList'],
  ['KV', 'Range'],
  ['Auth', 'Authenticate'],
] as const;
const same = (bytes: Buffer): Buffer => bytes;

/** A member that says what it is told to, for clusters to which no process can be brought. */
export class FakeMember implements AsyncDisposable {
  readonly #server = new Server();
  /** Who has logged in: "name password". */
  readonly logins: string[] = [];
  /** The tokens of the calls that had one. */
  readonly tokens: string[] = [];
  address = '';
  readonly #called = new Map<string, PromiseWithResolvers<void>>();

  /** Resolves with the first call of the method. */
  called(name: string): Promise<void> {
    return this.#of(name).promise;
  }

  #of(name: string): PromiseWithResolvers<void> {
    const known = this.#called.get(name) ?? Promise.withResolvers<void>();
    this.#called.set(name, known);
    return known;
  }

  static async start(id: bigint, answers: FakeAnswers): Promise<FakeMember> {
    const fake = new FakeMember();
    for (const [service, name] of METHODS) {
      const definition = {
        path: `/etcdserverpb.${service}/${name}`,
        requestStream: false,
        responseStream: false,
        requestSerialize: same,
        requestDeserialize: same,
        responseSerialize: same,
        responseDeserialize: same,
      };
      fake.#server.addService(
        { [name]: definition },
        {
          [name]: (call: ServerUnaryCall<Buffer, Buffer>, done: Done) => {
            fake.#of(name).resolve();
            fake.tokens.push(...call.metadata.get('token').map(String));
            if (answers.hangs?.includes(name) !== true) fake.#answer(name, call.request, id, answers, done);
          },
        },
      );
    }
    const watch = { path: '/etcdserverpb.Watch/Watch', requestStream: true, responseStream: true };
    const codecs = {
      requestSerialize: same,
      requestDeserialize: same,
      responseSerialize: same,
      responseDeserialize: same,
    };
    // It says that the watcher is there, and then nothing, whatever it is asked.
    const created = Buffer.from(pb.encodeWatchResponse({ header: { revision: 7 }, created: true }));
    fake.#server.addService(
      { Watch: { ...watch, ...codecs } },
      {
        Watch: (call: ServerDuplexStream<Buffer, Buffer>) => {
          fake.#of('Watch').resolve();
          call.once('data', () => call.write(created));
          call.on('error', () => {}).resume();
        },
      },
    );
    const port = await new Promise<number>((resolve, reject) =>
      fake.#server.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
        error === null ? resolve(bound) : reject(error),
      ),
    );
    fake.address = `127.0.0.1:${port}`;
    return fake;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.forceShutdown();
  }

  #answer(name: (typeof METHODS)[number][1], request: Buffer, id: bigint, answers: FakeAnswers, done: Done): void {
    const header = { clusterId: 1n, memberId: id, revision: 7 };
    const give = (bytes: Uint8Array): void => done(null, Buffer.from(bytes));
    switch (name) {
      case 'Status':
        give(
          pb.encodeStatusResponse({
            header,
            version: '3.7.3',
            dbSize: 10,
            dbSizeQuota: 1000,
            leader: 1n,
            ...answers.status,
          }),
        );
        return;
      case 'Alarm':
        give(pb.encodeAlarmResponse({ header }));
        return;
      case 'MemberList': {
        const members = (answers.members ?? [1n, 2n, 3n]).map((ID) => ({ ID, name: `m${ID}`, clientURLs: [] }));
        give(pb.encodeMemberListResponse({ header, members }));
        return;
      }
      case 'Range':
        if (answers.reads === false) done({ code: status.UNAVAILABLE, details: 'etcdserver: request timed out' });
        else give(pb.encodeRangeResponse({ header }));
        return;
      case 'Authenticate': {
        const { name: user, password } = pb.decodeAuthenticateRequest(request);
        this.logins.push(`${user} ${password}`);
        if (answers.login === undefined) give(pb.encodeAuthenticateResponse({ header, token: 'token-1' }));
        else done({ code: status.INVALID_ARGUMENT, details: answers.login });
      }
    }
  }
}
