import { type LogFormat, type LogLevel, type LogRotation, logLevels } from '@engram/telemetry';
import { ConfigError, type FlagValues } from '../flags/flag-values.ts';

export interface LogConfig {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** 'stderr', 'stdout', or file paths. */
  readonly outputs: readonly string[];
  /** Of the one file among the outputs. Undefined: it grows. */
  readonly rotation: LogRotation | undefined;
}

const MEGABYTE = 1024 * 1024;
const MEGABYTES_DEFAULT = 100;
const NO_FILES: ReadonlySet<string> = new Set(['default', 'stderr', 'stdout']);

/** As zap reads it: in any case, and empty for info. etcd logs nothing at `dpanic`. */
function logLevelOf(text: string): LogLevel {
  const name = text.toLowerCase();
  const level = new Map<string, LogLevel>([
    ['', 'info'],
    ['warning', 'warn'],
    ['dpanic', 'panic'],
    ...logLevels.map((known) => [known, known] as const),
  ]).get(name);
  if (level === undefined) throw new ConfigError(`--log-level=${text}: expected one of ${logLevels.join(', ')}`);
  return level;
}

export function logConfig(values: FlagValues): LogConfig {
  const logger = values.text('logger');
  if (logger !== 'zap') throw new ConfigError(`unknown logger option ${JSON.stringify(logger)}`);
  const level = logLevelOf(values.text('log-level'));
  const format = values.text('log-format') || 'json';
  if (format !== 'json' && format !== 'console')
    throw new ConfigError(`--log-format=${format}: expected json or console`);
  const outputs = values.list('log-outputs');
  if (outputs.length > 1 && outputs.includes('default')) {
    throw new ConfigError('multi logoutput for "default" is not supported yet');
  }
  if (outputs.includes('systemd/journal'))
    throw new ConfigError('--log-outputs=systemd/journal is not supported: write to stderr');
  const named = outputs.length === 0 ? ['default'] : outputs;
  const rotation = values.bool('enable-log-rotation')
    ? rotationOf(named, values.text('log-rotation-config-json'))
    : undefined;
  return {
    level,
    format,
    outputs: [...new Set(named)].map((output) => (output === 'default' ? 'stderr' : output)),
    rotation,
  };
}

/** etcd server/embed/config_logging.go: setupLogRotation. Names of fields in any case, others are passed over, as in Go. */
function rotationOf(outputs: readonly string[], json: string): LogRotation {
  const files = outputs.filter((output) => !NO_FILES.has(output)).length;
  if (files > 1 || (files === 0 && outputs.length === 1)) {
    throw new ConfigError('--log-outputs requires a single file path when --log-rotate-config-json is defined');
  }
  const fields = fieldsOf(json);
  return {
    bytesMax: (numberIn(fields, 'maxsize') || MEGABYTES_DEFAULT) * MEGABYTE,
    daysMax: numberIn(fields, 'maxage'),
    backupsMax: numberIn(fields, 'maxbackups'),
    localTime: flagIn(fields, 'localtime'),
    compress: flagIn(fields, 'compress'),
  };
}

function fieldsOf(json: string): ReadonlyMap<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(`improperly formatted log rotation config: ${why}`);
  }
  if (value === null) return new Map();
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw new ConfigError('invalid log rotation config: expected an object');
  }
  return new Map(Object.entries(value).map(([name, one]) => [name.toLowerCase(), one]));
}

function numberIn(fields: ReadonlyMap<string, unknown>, name: string): number {
  const value = fields.get(name) ?? 0;
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value;
  throw new ConfigError(`invalid log rotation config: ${name} takes a whole number from 0 on`);
}

function flagIn(fields: ReadonlyMap<string, unknown>, name: string): boolean {
  const value = fields.get(name) ?? false;
  if (typeof value === 'boolean') return value;
  throw new ConfigError(`invalid log rotation config: ${name} takes true or false`);
}
