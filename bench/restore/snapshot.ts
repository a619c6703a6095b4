import { etcdCommand } from '../support/programs.ts';
import { type CommandCost, measuredCommand } from './measured-command.ts';
import { ROOT, type StoreDigest } from './store-digest.ts';

/** Saves a snapshot as an operator does. */
export const save = (endpoint: string, file: string): Promise<CommandCost> =>
  measuredCommand([
    etcdCommand('etcdctl'),
    `--endpoints=${endpoint}`,
    `--user=${ROOT.name}:${ROOT.password}`,
    '--command-timeout=600s',
    'snapshot',
    'save',
    file,
  ]);

/** What differs, a line each. */
export function differences(what: string, found: StoreDigest, wanted: StoreDigest): readonly string[] {
  const failures: string[] = [];
  for (const [name, line] of wanted) {
    const own = found.get(name);
    console.error(`${what}, ${name}: ${own === line ? 'equal' : `${own}, not ${line}`}`);
    if (own !== line) failures.push(`${what}, ${name}: ${own}, not ${line}`);
  }
  return failures;
}
