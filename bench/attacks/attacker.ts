/** Runs one attack in its own process: attacker.ts NAME PORT SECURE_PORT PATIENCE_MS. Prints nothing. */
import { attacks } from './attacks.ts';

const [name, port, securePort, patienceMs] = process.argv.slice(2);
const attack = attacks.find((each) => each.name === name);
if (attack === undefined) throw new Error(`no attack is called ${name}`);
await attack.run({ port: Number(port), securePort: Number(securePort), patienceMs: Number(patienceMs) });
process.exit(0);
