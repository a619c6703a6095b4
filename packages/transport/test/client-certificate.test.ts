import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { commonNameOf, refusalOf } from '../src/client-certificate.ts';

test("as in Go, the last of several CommonNames is the subject's", () => {
  const folder = mkdtempSync(join(tmpdir(), 'engram-cn-'));
  try {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'a.key'];
    const args = ['req', '-x509', ...key, '-out', 'a.crt', '-subj', '/CN=good/CN=evil'];
    execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
    const certificate = new X509Certificate(readFileSync(join(folder, 'a.crt')));
    expect(commonNameOf(certificate.toLegacyObject())).toBe('evil');
    const tls = { certFile: '', keyFile: '', clientCertAuth: true, minVersion: 'TLS1.2', cipherSuites: [] } as const;
    expect(refusalOf({ ...tls, allowedCommonNames: ['good'] }, certificate)).toMatch('"evil" is not allowed');
    expect(refusalOf({ ...tls, allowedCommonNames: ['evil'] }, certificate)).toBe(undefined);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
