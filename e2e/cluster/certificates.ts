import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];

export interface Certified {
  /** The authority. */
  readonly by: string;
  readonly commonName: string;
  readonly hostname: string;
  readonly more?: readonly string[];
}

/** Certificate authorities and the certificates they sign, made by openssl in one folder. */
export class Certificates {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
    mkdirSync(folder, { recursive: true });
  }

  file(name: string): string {
    return join(this.#folder, name);
  }

  read(name: string): Buffer {
    return readFileSync(this.file(name));
  }

  authority(name: string): void {
    this.#openssl('req', '-x509', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.crt`, '-subj', `/CN=${name}`);
    writeFileSync(this.file(`${name}.index`), '');
    writeFileSync(
      this.file(`${name}.cnf`),
      `[ca]\ndefault_ca=list\n[list]\ndatabase=${name}.index\ndefault_md=sha256\ndefault_crl_days=30\n`,
    );
    this.#list(name);
  }

  /** Makes `<name>.crt` and `<name>.key`, valid for 127.0.0.1, this host name and `more` (`DNS:name`, `IP:address`). */
  certify(name: string, { by, commonName, hostname, more = [] }: Certified): void {
    const names = ['IP:127.0.0.1', `DNS:${hostname}`, ...more];
    writeFileSync(this.file(`${name}.ext`), `subjectAltName=${names.join()}`);
    this.#openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', `/CN=${commonName}`);
    const signer = ['-CA', `${by}.crt`, '-CAkey', `${by}.key`, '-CAcreateserial'];
    const files = ['-in', `${name}.csr`, '-out', `${name}.crt`, '-extfile', `${name}.ext`];
    this.#openssl('x509', '-req', ...signer, ...files);
  }

  /** Revokes the certificate in a new `<authority>.crl`. */
  revoke(name: string, authority: string): void {
    this.#openssl(...this.#ca(authority), '-revoke', `${name}.crt`);
    this.#list(authority);
  }

  #list(authority: string): void {
    this.#openssl(...this.#ca(authority), '-gencrl', '-out', `${authority}.crl`);
  }

  #ca(authority: string): readonly string[] {
    return ['ca', '-config', `${authority}.cnf`, '-keyfile', `${authority}.key`, '-cert', `${authority}.crt`];
  }

  #openssl(...args: readonly string[]): void {
    execFileSync('openssl', args, { cwd: this.#folder, stdio: 'pipe' });
  }
}
