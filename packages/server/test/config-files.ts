import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readConfiguration, type NodeConfig } from '@engram/server';
import { afterAll } from 'vitest';

/** A folder for the files of one test file, removed at its end. */
export class ConfigFiles {
  readonly folder = mkdtempSync(join(tmpdir(), 'engram-config-'));
  readonly certFile = join(this.folder, 'cert.pem');
  #files = 0;

  constructor() {
    writeFileSync(this.certFile, 'only looked for, not read');
    afterAll(() => rmSync(this.folder, { recursive: true, force: true }));
  }

  /** A file with this text. */
  fileOf(yaml: string): string {
    this.#files += 1;
    const file = join(this.folder, `${this.#files}.yaml`);
    writeFileSync(file, yaml);
    return file;
  }
}

export async function configOf(args: readonly string[], environment: Record<string, string> = {}): Promise<NodeConfig> {
  const configuration = await readConfiguration(args, environment);
  if (configuration.kind !== 'config') throw new Error(JSON.stringify(configuration));
  return configuration.config;
}
