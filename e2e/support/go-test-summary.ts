#!/usr/bin/env node
/**
 * Reads `go test -json` from standard input, and prints the output of each failed test and the end of each package. The
 * last line is `e2e-<part>: N passed, N failed`. Only leaf tests count: a test with subtests is their sum. Exits with 1
 * if a test or a package failed, or if nothing ran.
 *
 *   go test -json ./... | go-test-summary.ts <part> [--verbose]
 */
import { createInterface } from 'node:readline';

interface TestEvent {
  readonly Action: string;
  readonly Package?: string;
  readonly Test?: string;
  readonly Output?: string;
  readonly Elapsed?: number;
}

function parseEvent(line: string): TestEvent | undefined {
  if (!line.startsWith('{')) return undefined;
  try {
    const value: unknown = JSON.parse(line);
    return typeof value === 'object' && value !== null && 'Action' in value ? (value as TestEvent) : undefined;
  } catch {
    return undefined;
  }
}

const OUTPUT_LINES_MAX = 400;
const part = process.argv[2] ?? 'go';
const verbose = process.argv.includes('--verbose');
const outcomes = new Map<string, string>();
const parents = new Set<string>();
const outputs = new Map<string, string[]>();
/** Packages whose end was not reported yet. */
const openPackages = new Set<string>();
let packagesFailed = 0;

for await (const line of createInterface({ input: process.stdin })) {
  const event = parseEvent(line);
  if (event === undefined) {
    console.log(line);
    continue;
  }
  const name = `${event.Package ?? ''} ${event.Test ?? ''}`;
  if (event.Package !== undefined) openPackages.add(event.Package);
  if (event.Action === 'output') {
    const lines = outputs.get(name) ?? [];
    lines.push(event.Output ?? '');
    if (lines.length > OUTPUT_LINES_MAX) lines.shift();
    outputs.set(name, lines);
    continue;
  }
  if (event.Action !== 'pass' && event.Action !== 'fail' && event.Action !== 'skip') continue;
  if (event.Test === undefined) {
    console.log(`${event.Action} ${event.Package ?? ''} (${event.Elapsed ?? 0} s)`);
    openPackages.delete(event.Package ?? '');
    if (event.Action === 'fail') {
      packagesFailed += 1;
      process.stdout.write((outputs.get(name) ?? []).join(''));
    }
    continue;
  }
  outcomes.set(name, event.Action);
  const slash = name.lastIndexOf('/');
  if (slash > name.indexOf(' ')) parents.add(name.slice(0, slash));
  if (event.Action === 'fail') {
    process.stdout.write((outputs.get(name) ?? []).join(''));
  } else if (verbose) {
    console.log(`--- ${event.Action}: ${event.Test} (${event.Elapsed ?? 0} s)`);
  }
  outputs.delete(name);
}

// A killed package reports no end, and its tests that did not run have no outcome.
for (const name of openPackages) console.log(`${name} was ended before its end`);
packagesFailed += openPackages.size;
const leaves = [...outcomes].filter(([name]) => !parents.has(name));
const count = (outcome: string): number => leaves.filter(([, ended]) => ended === outcome).length;
const passed = count('pass');
const skipped = count('skip');
// A panic or the time limit ends a package without an outcome for the running test. The package then counts as one failure.
const failed = count('fail') > 0 ? count('fail') : packagesFailed;
if (skipped > 0) console.log(`${skipped} skipped by the suite itself`);
if (passed + failed === 0) console.log('nothing ran: the build failed, or the filter matches no test');
console.log(`e2e-${part}: ${passed} passed, ${failed} failed`);
process.exitCode = failed > 0 || packagesFailed > 0 || passed === 0 ? 1 : 0;
