import { appendFileSync, constants, fstatSync, openSync } from 'node:fs';
import type { Logger } from '@engram/core';
import pino from 'pino';
import { type LogRotation, RotatingFile } from './rotating-file.ts';

/** zap's names, most verbose first. etcd's --log-level accepts them. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'panic', 'fatal'] as const;
export type LogLevel = (typeof logLevels)[number];
export type LogFormat = 'json' | 'console';

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** 'stderr', 'stdout', or paths of files that are appended to. */
  readonly outputs: readonly string[];
  /** Of the files among the outputs. Undefined: they grow. */
  readonly rotation?: LogRotation | undefined;
}

/** The process's logger. `fatal` logs why the process ends, but does not end it. */
export interface ProcessLogger extends Logger {
  fatal(fields: object, message: string): void;
}

/**
 * Writes lines in etcd's (zap's) form, so that tools for etcd's logs can read them:
 * `{"level":"info","ts":"2026-01-02T03:04:05.006Z","msg":"..."}`. As in zap, each line is written at once, so it
 * survives a later crash. Throws if a file cannot be opened.
 */
export function createLogger(options: LoggerOptions): ProcessLogger {
  const write = writerOf(options);
  const format = options.format === 'json' ? (line: string): string => line : consoleLine;
  return pino(
    {
      level: options.level,
      customLevels: { panic: 55 },
      base: null, // no pid and host name in each line
      messageKey: 'msg',
      timestamp: () => `,"ts":"${new Date().toISOString()}"`,
      formatters: { level: (label) => ({ level: label }), log: plainFields },
    },
    { write: (line: string) => write(format(line)) },
  );
}

/** Converts an error to its text, as zap.Error does, and a bigint to text, because JSON has no bigint. */
function plainFields(fields: object): Record<string, unknown> {
  const plain: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    if (value instanceof Error) plain[name] = errorText(value);
    else plain[name] = typeof value === 'bigint' ? value.toString() : value;
  }
  return plain;
}

function errorText(error: Error): string {
  const own = error.message === '' ? error.name : error.message;
  return error.cause instanceof Error ? `${own}: ${errorText(error.cause)}` : own;
}

/** zap's console encoding: time, level and message separated by tabs, then the other fields as JSON. */
function consoleLine(line: string): string {
  const { level, ts, msg, ...fields }: Record<string, unknown> = JSON.parse(line);
  const rest = Object.keys(fields).length > 0 ? `\t${JSON.stringify(fields)}` : '';
  return `${ts}\t${String(level).toUpperCase()}\t${msg}${rest}\n`;
}

function writerOf({ outputs, rotation }: LoggerOptions): (line: string) => void {
  const sinks = outputs.map((output) => {
    if (output === 'stderr') return new Sink(appenderOf(notBlocking(2)));
    if (output === 'stdout') return new Sink(appenderOf(notBlocking(1)));
    if (rotation === undefined) return new Sink(appenderOf(openSync(output, 'a', 0o600)));
    const file = new RotatingFile(output, rotation);
    return new Sink((line) => file.append(line));
  });
  return (line) => {
    for (const sink of sinks) sink.write(line);
  };
}

const appenderOf =
  (descriptor: number) =>
  (line: string): void =>
    appendFileSync(descriptor, line);

/**
 * One output. A reader that stopped reading, or a full disk, must not stop the store, so a line that does not fit is
 * lost. A line with the number of lost lines precedes the next line that fits.
 */
class Sink {
  readonly #append: (line: string) => void;
  #lost = 0;

  constructor(append: (line: string) => void) {
    this.#append = append;
  }

  write(line: string): void {
    const lost = this.#lost;
    try {
      if (lost > 0) {
        this.#append(`{"level":"warn","ts":"${new Date().toISOString()}","msg":"log lines lost","count":${lost}}\n`);
        this.#lost = 0;
      }
      this.#append(line);
    } catch (error) {
      if (!(error instanceof RangeError || (error instanceof Error && 'code' in error))) throw error;
      this.#lost += 1;
    }
  }
}

/**
 * Opens a pipe a second time, without blocking. The flag belongs to the open file, which this process shares with its
 * parent.
 */
function notBlocking(descriptor: number): number {
  try {
    if (!fstatSync(descriptor).isFIFO()) return descriptor;
    return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK);
  } catch {
    return descriptor; // no /proc, or no permission: use the pipe as it is
  }
}
