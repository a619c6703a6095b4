import { askPassword } from './cli/ask-password.ts';
import { StreamPrinter } from './cli/printer.ts';
import { runProgram } from './program.ts';

async function main(): Promise<void> {
  // Node would not verify the certificates of endpoints. The launcher drops it, too; an executable has none.
  delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'];
  const stop = new AbortController();
  const stopBy = (signal: NodeJS.Signals): void => {
    if (stop.signal.aborted) process.exit(5); // a second one: at once
    stop.abort(new Error(`stopped by ${signal}`));
  };
  process.on('SIGINT', stopBy);
  process.on('SIGTERM', stopBy);
  process.exitCode = await runProgram(process.argv.slice(2), {
    environment: process.env,
    printer: new StreamPrinter(process.stdout, process.stderr),
    askPassword: () => askPassword(process.stdin, process.stderr, stop.signal),
    nowMs: Date.now,
    signal: stop.signal,
  });
}

// Not awaited: in a release this module is a function, which cannot wait.
void main();
