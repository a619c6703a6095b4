import { randomUUID } from 'node:crypto';
import { type Identity, issue, type IssueOptions, revocationListDer } from './certificates.ts';

/** A client's certificates, the files of the server that it meets, and whether etcd serves it. */
export interface CertificateCase {
  readonly what: string;
  /** --trusted-ca-file, PEM. */
  readonly trusted: string;
  /** --client-crl-file, DER. */
  readonly revoked?: Buffer;
  /** PEM: the client's certificate, and those of authorities that it sends along. */
  readonly certificates: string;
  readonly key: string;
  readonly served: boolean;
  /** Where the server here refuses whom etcd serves: why. */
  readonly stricter?: string;
}

const SENT = 'node does not tell which authorities a client has sent';
const PAST = '210101000000Z';

/** The authority of the server, and the cases. */
export function certificateCases(): { readonly root: Identity; readonly cases: readonly CertificateCase[] } {
  const root = issue('root');
  const other = issue('another root');
  const under = (issuer: Identity, options: IssueOptions = {}): Identity =>
    issue(`authority ${randomUUID()}`, issuer, { authority: true, names: [], ...options });
  const middle = under(root);
  const client = (issuer: Identity | undefined, options: IssueOptions = {}): Identity =>
    issue('client', issuer, { usages: ['clientAuth'], ...options });
  const direct = client(root);
  const below = client(middle);
  const second = under(root, { serial: root.serial });
  const belowSecond = client(second);
  const one = (
    what: string,
    served: boolean,
    trusted: readonly Identity[],
    chain: readonly Identity[],
    more: Pick<CertificateCase, 'revoked' | 'stricter'> = {},
  ): CertificateCase => ({
    what,
    served,
    trusted: trusted.map(({ certificate }) => certificate).join(''),
    certificates: chain.map(({ certificate }) => certificate).join(''),
    key: chain[0]!.key,
    ...more,
  });
  const revoking = (issuer: Identity, serials: readonly Identity[], nextUpdate?: string) => ({
    revoked: revocationListDer(issuer, serials, nextUpdate),
  });
  const expired = { notAfter: PAST };
  const any = { usages: ['any'] } as const;
  const anyRevoked = client(root, any);
  const lower = under(middle);
  const named = under(root, { permittedNames: 'localhost' });
  const belowOne = (authority: Identity): readonly Identity[] => [client(authority, any), authority];
  const deeper = (authority: Identity): readonly Identity[] => {
    const between = under(authority);
    return [client(between, any), between, authority];
  };

  return {
    root,
    cases: [
      one('the root signs the client', true, [root], [direct]),
      one('an intermediate is sent along', true, [root], [below, middle]),
      one('an intermediate is not sent along', false, [root], [below]),
      one('an intermediate is trusted alone', true, [middle], [below]),
      one('an intermediate is trusted alone, and sent along', true, [middle], [below, middle]),
      one('an intermediate is trusted alone, and signs another', true, [middle], [client(lower), lower]),
      one('the client is trusted itself', true, [direct], [direct]),
      one('another client of the same root is trusted', false, [client(root)], [direct]),
      one('a stranger', false, [root], [client(other)]),
      one('a stranger sends its root along', false, [root], [client(other), other]),
      one('a self-signed client', false, [root], [client(undefined)]),
      one('the client has expired', false, [root], [client(root, expired)]),
      one('the trusted client has expired', false, [direct], [client(root, expired)]),

      one('a weak key', true, [root], [client(root, { keys: 'weak' })], {
        stricter: 'OpenSSL accepts no RSA key below 2048 bits',
      }),
      one('any usage', true, [root], [client(root, any)]),
      one('any usage, below an intermediate', true, [root], [client(middle, any), middle], { stricter: SENT }),
      one('any usage, below a trusted intermediate', true, [middle], [client(middle, any)]),
      one('no usages', true, [root], [issue('client', root)]),
      one('usage of servers alone', false, [root], [client(root, { usages: ['serverAuth'] })]),
      one('usage of servers and any', true, [root], [client(root, { usages: ['serverAuth', 'any'] })]),
      one('a key for encipherment alone', true, [root], [client(root, { keyUsages: ['keyEncipherment'] })]),
      one(
        'a key for encipherment of any usage',
        true,
        [root],
        [client(root, { keyUsages: ['keyEncipherment'], ...any })],
      ),
      one(
        'a key for encipherment of servers',
        false,
        [root],
        [client(root, { keyUsages: ['keyEncipherment'], usages: ['serverAuth'] })],
      ),
      one('any usage, of a stranger', false, [root], [client(other, any)]),
      one('any usage, of a stranger with its root', false, [root], [client(other, any), other]),
      one('any usage, self-signed', false, [root], [client(undefined, any)]),
      one('any usage, expired', false, [root], [client(root, { ...any, ...expired })]),
      one('any usage, below an expired intermediate', false, [root], belowOne(under(root, expired))),
      one(
        'any usage, below an intermediate for servers',
        false,
        [root],
        belowOne(under(root, { usages: ['serverAuth'] })),
      ),
      one(
        'any usage, below an intermediate for clients',
        true,
        [root],
        belowOne(under(root, { usages: ['clientAuth'] })),
        { stricter: SENT },
      ),
      one('any usage, below a client', false, [root], belowOne(client(root))),
      one('any usage, deeper than allowed', false, [root], deeper(under(root, { pathLength: 0 }))),
      one('any usage, as deep as allowed', true, [root], deeper(under(root, { pathLength: 1 })), { stricter: SENT }),
      one(
        'any usage, with a critical extension that nobody knows',
        false,
        [root],
        [client(root, { ...any, unknownExtension: '2a0304' })],
      ),
      one(
        'any usage, below an authority for other names',
        false,
        [root],
        belowOne(under(root, { permittedNames: 'else.example' })),
      ),
      one(
        'any usage, below an authority for its name',
        true,
        [root],
        [client(named, { ...any, names: ['localhost'] }), named],
        { stricter: 'constraints on names are not understood beside a purpose that OpenSSL refuses' },
      ),

      one('revoked', false, [root], [direct], revoking(root, [direct])),
      one('another is revoked', true, [root], [direct], revoking(root, [below])),
      one('an intermediate that is sent along has no list', true, [root], [below, middle], {
        ...revoking(root, [direct]),
        stricter: SENT,
      }),
      one('an intermediate that is sent along is revoked', false, [root], [below, middle], revoking(root, [middle])),
      one('a list of somebody else', true, [root], [direct], revoking(other, [below])),
      one('a list of somebody else has the serial number', false, [root], [direct], revoking(other, [direct])),
      one('a list that has passed its date', true, [root], [direct], revoking(root, [below], PAST)),
      one('revoked by a list that has passed its date', false, [root], [direct], revoking(root, [direct], PAST)),
      one('an empty list', true, [root], [direct], revoking(root, [])),
      one('a trusted intermediate is revoked', true, [middle], [below], {
        ...revoking(root, [middle]),
        stricter: 'a trusted authority that is revoked counts without being sent',
      }),
      one(
        'a trusted intermediate is revoked, and sent along',
        false,
        [middle],
        [below, middle],
        revoking(root, [middle]),
      ),
      one(
        'a trusted intermediate is revoked, and its root is trusted',
        false,
        [middle, root],
        [below, middle],
        revoking(root, [middle]),
      ),
      one(
        'the root has the number of a revoked intermediate',
        false,
        [root],
        [belowSecond, second],
        revoking(root, [second]),
      ),
      one('the root has a revoked number', true, [root], [direct], revoking(root, [second])),
      one('any usage, revoked', false, [root], [anyRevoked], revoking(root, [anyRevoked])),
    ],
  };
}
