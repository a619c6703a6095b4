import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);
const TOOL_MAX_MS = 300_000;

export interface ToolOptions {
  readonly cwd?: string;
  readonly env?: NodeJS.ProcessEnv;
}

/** Runs a program to its end, at most five minutes; resolves with what it wrote to stdout. Rejects with what it said. */
export async function runTool(program: string, args: readonly string[], options: ToolOptions = {}): Promise<string> {
  const { stdout } = await execute(program, args, { ...options, timeout: TOOL_MAX_MS, maxBuffer: 64 << 20 });
  return stdout;
}
