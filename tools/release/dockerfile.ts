/** The configuration of an image, as the OCI's and Docker's formats have it. */
export interface ImageConfig {
  Env: string[];
  Labels: Record<string, string>;
  ExposedPorts: Record<string, object>;
  Volumes: Record<string, object>;
  User?: string;
  WorkingDir?: string;
  StopSignal?: string;
  Entrypoint?: string[];
  Cmd?: string[];
  Healthcheck?: { Test: string[]; Interval?: number; Timeout?: number; StartPeriod?: number; Retries?: number };
}

const healthOptions = {
  interval: 'Interval',
  timeout: 'Timeout',
  'start-period': 'StartPeriod',
  retries: 'Retries',
} as const;

/**
 * Reads deploy/Dockerfile: an image of one layer from nothing. It knows the instructions that this needs, with lists as
 * JSON, and refuses every other: `docker build` must not make another image than this reader.
 */
export function readDockerfile(text: string, given: Readonly<Record<string, string>>): ImageConfig {
  const config: ImageConfig = { Env: [], Labels: {}, ExposedPorts: {}, Volumes: {} };
  const values = new Map<string, string>();
  const lines = text.replaceAll(/^\s*#.*\n/gm, '').replaceAll(/\\\n\s*/g, ' ');
  for (const line of lines.split('\n').filter((each) => each.trim() !== '')) {
    const [, instruction, rest] = /^([A-Z]+)\s+(.+)$/.exec(line.trim()) ?? [];
    const value = rest?.replaceAll(/\$\{(\w+)\}/g, (_, name: string) => {
      const known = values.get(name);
      if (known === undefined) throw new Error(`Dockerfile: ${name} has no value`);
      return known;
    });
    if (instruction === undefined || value === undefined) throw new Error(`Dockerfile: ${line}`);
    apply(config, values, instruction, value, given);
  }
  return config;
}

function apply(
  config: ImageConfig,
  values: Map<string, string>,
  instruction: string,
  value: string,
  given: Readonly<Record<string, string>>,
): void {
  switch (instruction) {
    case 'FROM':
      if (value !== 'scratch') throw new Error(`Dockerfile: FROM ${value}: only scratch`);
      return;
    case 'ADD':
      if (!/^\S+\.tar \/$/.test(value)) throw new Error(`Dockerfile: ADD ${value}: only one tar at /`);
      return;
    case 'ARG': {
      const [, name, standard] = /^(\w+)(?:=(\S*))?$/.exec(value) ?? [];
      if (name === undefined) throw new Error(`Dockerfile: ARG ${value}`);
      const chosen = given[name] ?? standard;
      if (chosen !== undefined) values.set(name, chosen);
      return;
    }
    case 'ENV':
      config.Env.push(...pairs(value).map(([name, text]) => `${name}=${text}`));
      return;
    case 'LABEL':
      Object.assign(config.Labels, Object.fromEntries(pairs(value)));
      return;
    case 'EXPOSE':
      for (const port of value.split(/\s+/)) config.ExposedPorts[`${port}/tcp`] = {};
      return;
    case 'VOLUME':
      for (const path of list(value)) config.Volumes[path] = {};
      return;
    case 'USER':
      config.User = value;
      return;
    case 'WORKDIR':
      config.WorkingDir = value;
      return;
    case 'STOPSIGNAL':
      config.StopSignal = value;
      return;
    case 'ENTRYPOINT':
      config.Entrypoint = list(value);
      return;
    case 'CMD':
      config.Cmd = list(value);
      return;
    case 'HEALTHCHECK':
      config.Healthcheck = healthcheck(value);
      return;
    default:
      throw new Error(`Dockerfile: ${instruction} is not known to tools/release/dockerfile.ts`);
  }
}

function healthcheck(value: string): NonNullable<ImageConfig['Healthcheck']> {
  const [, options, command] = /^((?:--\S+\s+)*)CMD\s+(.+)$/.exec(value) ?? [];
  if (command === undefined) throw new Error(`Dockerfile: HEALTHCHECK ${value}`);
  const check: NonNullable<ImageConfig['Healthcheck']> = { Test: ['CMD', ...list(command)] };
  for (const [, name, amount] of options!.matchAll(/--([a-z-]+)=(\d+)s?/g)) {
    const field = healthOptions[name as keyof typeof healthOptions];
    if (field === undefined) throw new Error(`Dockerfile: HEALTHCHECK --${name}`);
    check[field] = field === 'Retries' ? Number(amount) : Number(amount) * 1e9;
  }
  return check;
}

function pairs(text: string): readonly (readonly [string, string])[] {
  const found = [...text.matchAll(/([\w.]+)=(?:"([^"]*)"|(\S+))/g)];
  if (found.length === 0) throw new Error(`Dockerfile: no NAME=VALUE: ${text}`);
  return found.map(([, name, quoted, plain]) => [name!, quoted ?? plain!] as const);
}

function list(text: string): string[] {
  const parsed: unknown = JSON.parse(text);
  if (!Array.isArray(parsed) || !parsed.every((each) => typeof each === 'string'))
    throw new Error(`Dockerfile: not a list of strings: ${text}`);
  return parsed;
}
