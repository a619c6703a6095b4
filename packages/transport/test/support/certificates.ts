import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { isIPv4 } from 'node:net';

// The subset of DER (X.690) that a certificate of RFC 5280 needs.
function der(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  // The shortest encoding of the length: DER allows no other, and Go and rustls check it.
  const lengthBytes = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >>> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...lengthBytes]), content]);
}
const sequence = (...contents: readonly Uint8Array[]): Buffer => der(0x30, ...contents);
const oid = (hex: string): Buffer => der(0x06, Buffer.from(hex, 'hex'));
const octets = (content: Uint8Array): Buffer => der(0x04, content);
const bits = (content: Uint8Array): Buffer => der(0x03, Buffer.from([0]), content);
const time = (date: string): Buffer => der(0x17, Buffer.from(date));
const truth = der(0x01, Buffer.from([0xff]));
const integer = (content: Uint8Array): Buffer => der(0x02, content);

const ecdsaWithSha256 = sequence(oid('2a8648ce3d040302'));
const commonNameOid = oid('550403');
const nameOf = (commonNames: readonly string[]): Buffer =>
  sequence(...commonNames.map((text) => der(0x31, sequence(commonNameOid, der(0x0c, Buffer.from(text))))));
const critical = (id: string, content: Uint8Array): Buffer => sequence(oid(id), truth, octets(content));

/** Extended key usages (RFC 5280, 4.2.1.12). */
const usages = { serverAuth: '2b06010505070301', clientAuth: '2b06010505070302', any: '551d2500' } as const;
/** The bits of a key usage, the first one on the left. */
const keyUsages = { digitalSignature: 0x80, keyEncipherment: 0x20, certSign: 0x04 } as const;

function pem(label: string, content: Buffer): string {
  const lines = content.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}

export interface Identity {
  readonly certificate: string;
  readonly key: string;
  readonly subject: Buffer;
  readonly privateKey: KeyObject;
  readonly serial: Buffer;
}

export interface IssueOptions {
  /** `weak` is RSA with 1024 bits. */
  readonly keys?: 'ec' | 'rsa' | 'weak';
  /** Subject alternative names; if empty, the certificate has none. */
  readonly names?: readonly string[];
  /** Whether it may sign others; by default only without an issuer. */
  readonly authority?: boolean;
  readonly usages?: readonly (keyof typeof usages)[];
  readonly keyUsages?: readonly (keyof typeof keyUsages)[];
  /** How many authorities may follow below this one. */
  readonly pathLength?: number;
  /** YYMMDDhhmmssZ. */
  readonly notAfter?: string;
  readonly serial?: Buffer;
  /** Instead of the one CommonName. */
  readonly commonNames?: readonly string[];
  /** The identifier of a critical extension that nobody knows, in hex. */
  readonly unknownExtension?: string;
  /** An authority's constraint: the only DNS names that it may certify. */
  readonly permittedNames?: string;
}

/**
 * A certificate for `localhost` and 127.0.0.1. It is signed by `issuer`; without an issuer it is self-signed and may
 * sign others.
 */
export function issue(commonName: string, issuer?: Identity, options: IssueOptions = {}): Identity {
  const { privateKey, publicKey } =
    options.keys === 'rsa' || options.keys === 'weak'
      ? generateKeyPairSync('rsa', { modulusLength: options.keys === 'weak' ? 1024 : 2048 })
      : generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const names = (options.names ?? ['localhost', '127.0.0.1']).map((host) =>
    isIPv4(host) ? der(0x87, Buffer.from(host.split('.').map(Number))) : der(0x82, Buffer.from(host)),
  );
  const { authority = issuer === undefined, notAfter = '491231235959Z', permittedNames } = options;
  const pathLength = options.pathLength === undefined ? [] : [integer(Buffer.from([options.pathLength]))];
  const bitsOfUsages = (options.keyUsages ?? []).reduce((all, usage) => all | keyUsages[usage], 0);
  const extensions = [
    ...(names.length > 0 ? [sequence(oid('551d11'), octets(sequence(...names)))] : []),
    ...(authority ? [critical('551d13', sequence(truth, ...pathLength))] : []),
    ...(options.keyUsages === undefined ? [] : [critical('551d0f', bits(Buffer.from([bitsOfUsages])))]),
    ...(options.usages === undefined
      ? []
      : [sequence(oid('551d25'), octets(sequence(...options.usages.map((usage) => oid(usages[usage])))))]),
    ...(options.unknownExtension === undefined ? [] : [critical(options.unknownExtension, sequence())]),
    ...(permittedNames === undefined
      ? []
      : [critical('551d1e', sequence(der(0xa0, sequence(der(0x82, Buffer.from(permittedNames))))))]),
  ];
  const serial = options.serial ?? Buffer.concat([Buffer.from([0x10]), randomBytes(15)]); // positive
  const subject = nameOf(options.commonNames ?? [commonName]);
  const body = sequence(
    der(0xa0, integer(Buffer.from([2]))),
    integer(serial),
    ecdsaWithSha256,
    issuer?.subject ?? subject,
    sequence(time('200101000000Z'), time(notAfter)),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    ...(extensions.length > 0 ? [der(0xa3, sequence(...extensions))] : []),
  );
  const signature = sign('sha256', body, issuer?.privateKey ?? privateKey);
  return {
    certificate: pem('CERTIFICATE', sequence(body, ecdsaWithSha256, bits(signature))),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    subject,
    privateKey,
    serial,
  };
}

/** The issuer's certificate revocation list, in PEM. `nextUpdate` is YYMMDDhhmmssZ. */
export function revocationList(issuer: Identity, revoked: readonly Identity[], nextUpdate?: string): string {
  return pem('X509 CRL', revocationListDer(issuer, revoked, nextUpdate));
}

export function revocationListDer(
  issuer: Identity,
  revoked: readonly Identity[],
  nextUpdate = '491231235959Z',
): Buffer {
  const entries = revoked.map(({ serial }) => sequence(integer(serial), time('200101000000Z')));
  const body = sequence(
    integer(Buffer.from([1])),
    ecdsaWithSha256,
    issuer.subject,
    time('200101000000Z'),
    time(nextUpdate),
    ...(entries.length > 0 ? [sequence(...entries)] : []),
  );
  return sequence(body, ecdsaWithSha256, bits(sign('sha256', body, issuer.privateKey)));
}
