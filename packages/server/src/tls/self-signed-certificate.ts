import { createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { isIPv4, isIPv6 } from 'node:net';
import { join } from 'node:path';

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** The certificate of --auto-tls in `directory`: the existing one, or a new one for these hosts (names or addresses). */
export function selfSignedCertificate(directory: string, hosts: readonly string[], years: number): CertificateFiles {
  const files = { certFile: join(directory, 'cert.pem'), keyFile: join(directory, 'key.pem') };
  if (isWritten(files.certFile) && isWritten(files.keyFile)) return files;
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const body = certificateBody(publicKey.export({ type: 'spki', format: 'der' }), hosts, years);
  const signature = createSign('sha256').update(body).sign(privateKey);
  const certificate = sequence(body, ecdsaWithSha256, tlv(BIT_STRING, Buffer.of(0), signature));
  // A crash in between leaves no certificate, which would have another key.
  rmSync(files.certFile, { force: true });
  writeWhole(files.keyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }).toString());
  writeWhole(files.certFile, pem('CERTIFICATE', certificate));
  return files;
}

/** A loss of power may have left an empty file, with which no member would start. */
const isWritten = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0;

/** A crash leaves the whole file, or none of that name. */
function writeWhole(path: string, text: string): void {
  const unfinished = `${path}.new`;
  writeFileSync(unfinished, text, { mode: 0o600, flush: true });
  renameSync(unfinished, path);
}

// X.509 (RFC 5280) in DER. node:crypto can sign, but cannot make certificates.

const BOOLEAN = 0x01;
const INTEGER = 0x02;
const BIT_STRING = 0x03;
const OCTET_STRING = 0x04;
const OBJECT_ID = 0x06;
const UTF8_STRING = 0x0c;
const GENERALIZED_TIME = 0x18;
const SEQUENCE = 0x30;
const SET = 0x31;
const VERSION_FIELD = 0xa0;
const EXTENSIONS_FIELD = 0xa3;
const SAN_DNS = 0x82;
const SAN_ADDRESS = 0x87;
const DAY_MS = 86_400_000;

function certificateBody(publicKeyInfo: Buffer, hosts: readonly string[], years: number): Buffer {
  const now = Date.now();
  const name = sequence(tlv(SET, sequence(objectId(2, 5, 4, 10), tlv(UTF8_STRING, Buffer.from('engram')))));
  const serial = Buffer.concat([Buffer.of(1), randomBytes(15)]); // positive, and of fixed length
  const extensions = [
    extension(objectId(2, 5, 29, 15), true, tlv(BIT_STRING, Buffer.of(5, 0xa0))), // digitalSignature, keyEncipherment
    extension(objectId(2, 5, 29, 37), false, sequence(objectId(1, 3, 6, 1, 5, 5, 7, 3, 1))), // serverAuth
    extension(objectId(2, 5, 29, 19), true, sequence(tlv(BOOLEAN, Buffer.of(0xff)))), // CA: clients can trust the file itself
    extension(objectId(2, 5, 29, 17), false, sequence(...hosts.map(alternativeName))),
  ];
  return sequence(
    tlv(VERSION_FIELD, tlv(INTEGER, Buffer.of(2))),
    tlv(INTEGER, serial),
    ecdsaWithSha256,
    name,
    sequence(time(now - DAY_MS), time(now + years * 365 * DAY_MS)),
    name,
    publicKeyInfo,
    tlv(EXTENSIONS_FIELD, sequence(...extensions)),
  );
}

function extension(id: Buffer, critical: boolean, value: Buffer): Buffer {
  return sequence(id, ...(critical ? [tlv(BOOLEAN, Buffer.of(0xff))] : []), tlv(OCTET_STRING, value));
}

function alternativeName(host: string): Buffer {
  if (isIPv4(host)) return tlv(SAN_ADDRESS, Buffer.from(host.split('.').map(Number)));
  if (isIPv6(host)) return tlv(SAN_ADDRESS, addressBytes(host));
  return tlv(SAN_DNS, Buffer.from(host, 'latin1'));
}

/** The 16 bytes of an IPv6 address that has no IPv4 part. */
function addressBytes(host: string): Buffer {
  const [head = '', tail] = host.split('::');
  const groups = (text: string): readonly number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const before = groups(head);
  const after = tail === undefined ? [] : groups(tail);
  const zeros = Array.from({ length: 8 - before.length - after.length }, () => 0);
  return Buffer.from([...before, ...zeros, ...after].flatMap((group) => [group >> 8, group & 0xff]));
}

const ecdsaWithSha256 = sequence(objectId(1, 2, 840, 10045, 4, 3, 2));

function time(ms: number): Buffer {
  return tlv(GENERALIZED_TIME, Buffer.from(`${new Date(ms).toISOString().slice(0, 19).replace(/[-:T]/g, '')}Z`));
}

function objectId(first: number, second: number, ...rest: readonly number[]): Buffer {
  const bytes = [first * 40 + second];
  for (const arc of rest) {
    const digits = [arc & 0x7f];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128))
      digits.unshift((left & 0x7f) | 0x80);
    bytes.push(...digits);
  }
  return tlv(OBJECT_ID, Buffer.from(bytes));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return tlv(SEQUENCE, ...parts);
}

function tlv(tag: number, ...parts: readonly Buffer[]): Buffer {
  const content = Buffer.concat(parts);
  const { length } = content;
  const header = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...header), content]);
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return `-----BEGIN ${label}-----\n${lines.join('\n')}\n-----END ${label}-----\n`;
}
