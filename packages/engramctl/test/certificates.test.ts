import { expect, test } from 'vitest';
import { certificatesIn } from '../src/check/certificates.ts';

/** Without a subject, as issuers make them for services: its only name is an alternative one. */
const NAMELESS = `-----BEGIN CERTIFICATE-----
MIIBcDCCARagAwIBAgIUTKRIdnudZA5bNkFEbrba8eIMxgUwCgYIKoZIzj0EAwIw
ADAeFw0yNjExMjcxNzM3MzdaFw0yNjExMzAxNzM3MzdaMAAwWTATBgcqhkjOPQIB
BggqhkjOPQMBBwNCAAROqODfGtsnzBJdLhLBzQkkMrn9RIcEujTwkjNK85GJ+3VQ
hz5AzUHNcsAe4G1mYLQ5iq/YiRUjmLp7EW0e6vJBo24wbDAdBgNVHQ4EFgQU2xOC
EsGJkEzHZ3CmKEkENHAMmBowHwYDVR0jBBgwFoAU2xOCEsGJkEzHZ3CmKEkENHAM
mBowDwYDVR0TAQH/BAUwAwEB/zAZBgNVHREBAf8EDzANggtldGNkLTAuZXRjZDAK
BggqhkjOPQQDAgNIADBFAiBrqxByj3oCUhgRG0YUzOJlU67nPJ0aO5xbH6rYUl1V
jgIhAJZEOjWG/4oIf++Xl2BrBOQ/HhOwWqs018yGd2OSnXKm
-----END CERTIFICATE-----`;

test('a certificate without a subject is reported as well, by its alternative names', () => {
  expect(certificatesIn('--cert', NAMELESS)).toEqual([
    {
      of: '--cert',
      subject: 'DNS:etcd-0.etcd',
      endsAt: '2026-11-30T17:37:37.000Z',
      endsAtMs: Date.UTC(2026, 10, 30, 17, 37, 37),
    },
  ]);
});

test('what is no certificate is left out, and the others are reported', () => {
  const damaged = NAMELESS.replace('MIIB', 'AAAA');
  expect(certificatesIn('--cacert', `${damaged}\n${NAMELESS}\n`)).toHaveLength(1);
});
