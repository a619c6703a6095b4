import { createPrivateKey, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmdirSync, rmSync, statSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { selfSignedCertificate } from '../src/tls/self-signed-certificate.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'engram-certificate-'));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

test('is a certificate that OpenSSL reads, for these hosts and no other, signed by its own key', () => {
  const files = selfSignedCertificate(directory, ['localhost', '127.0.0.1', '::1', 'fe80::1:2'], 2);
  const certificate = new X509Certificate(readFileSync(files.certFile));
  expect(certificate.checkHost('localhost')).toBe('localhost');
  expect(certificate.checkHost('other')).toBeUndefined();
  for (const address of ['127.0.0.1', '::1', 'fe80::1:2']) expect(certificate.checkIP(address)).toBe(address);
  expect(certificate.checkIP('127.0.0.2')).toBeUndefined();
  expect(certificate.verify(certificate.publicKey)).toBe(true);
  const days = (certificate.validToDate.getTime() - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(729);
  expect(days).toBeLessThan(731);
  expect(certificate.validFromDate.getTime()).toBeLessThan(Date.now());
});

test('its key is for its owner alone', () => {
  const { keyFile } = selfSignedCertificate(directory, ['localhost'], 1);
  expect(statSync(keyFile).mode & 0o777).toBe(0o600);
});

test.each(['cert.pem', 'key.pem'])('is made anew where a loss of power has left %s empty', (name) => {
  const hosts = ['localhost'];
  selfSignedCertificate(directory, hosts, 1);
  truncateSync(join(directory, name));
  const { certFile, keyFile } = selfSignedCertificate(directory, hosts, 1);
  const certificate = new X509Certificate(readFileSync(certFile));
  expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))).toBe(true);
  expect(readdirSync(directory).sort()).toEqual(['cert.pem', 'key.pem']);
});

test('a crash between its two files leaves no old certificate with a new key', () => {
  const hosts = ['localhost'];
  selfSignedCertificate(directory, hosts, 1);
  truncateSync(join(directory, 'key.pem'));
  const inTheWay = join(directory, 'cert.pem.new');
  mkdirSync(inTheWay);
  expect(() => selfSignedCertificate(directory, hosts, 1)).toThrow('EISDIR');
  rmdirSync(inTheWay);
  const { certFile, keyFile } = selfSignedCertificate(directory, hosts, 1);
  const certificate = new X509Certificate(readFileSync(certFile));
  expect(certificate.checkPrivateKey(createPrivateKey(readFileSync(keyFile)))).toBe(true);
});

test('is made once', () => {
  const first = readFileSync(selfSignedCertificate(directory, ['localhost'], 1).certFile, 'utf8');
  expect(readFileSync(selfSignedCertificate(directory, ['localhost'], 1).certFile, 'utf8')).toBe(first);
});
