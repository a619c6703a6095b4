import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TlsOptions } from '@engram/transport';
import { onTestFinished } from 'vitest';
import type { Identity } from './certificates.ts';

/** A new folder with `ca.pem`, `server.pem` and `server-key.pem` for the running test. It is removed when the test ends. */
export class CertificateFolder {
  readonly path = mkdtempSync(join(tmpdir(), 'engram-tls-'));

  constructor(ca: Identity, server: Identity) {
    onTestFinished(() => rmSync(this.path, { recursive: true }));
    writeFileSync(this.file('ca.pem'), ca.certificate);
    this.replace(server);
  }

  file(name: string): string {
    return join(this.path, name);
  }

  /** A server with these files, that asks for no certificate, but for `changes`. */
  tls(changes: Partial<TlsOptions> = {}): TlsOptions {
    return {
      certFile: this.file('server.pem'),
      keyFile: this.file('server-key.pem'),
      clientCertAuth: false,
      minVersion: 'TLS1.2',
      cipherSuites: [],
      ...changes,
    };
  }

  replace(server: Identity): void {
    writeFileSync(this.file('server.pem'), server.certificate);
    writeFileSync(this.file('server-key.pem'), server.key);
  }
}
