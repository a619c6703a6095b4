/** Runs one attack on a cluster in its own process: cluster-attacker.ts NAME TARGET, a `ClusterTarget` as JSON. Prints nothing. */
import { type ClusterTarget, clusterAttacks } from './cluster-attacks.ts';

const [name, target = ''] = process.argv.slice(2);
const attack = clusterAttacks.find((each) => each.name === name);
if (attack === undefined) throw new Error(`no attack is called ${name}`);
await attack.run(JSON.parse(target) as ClusterTarget);
process.exit(0);
