import { mutants } from './catalogue.ts';
import { clusterMutants } from './cluster-catalogue.ts';
import type { Mutant } from './mutant.ts';
import { tikvMutants } from './tikv-catalogue.ts';

/** All of them. Some stand in several lists. */
export const allMutants: readonly Mutant[] = [...new Set([...mutants, ...clusterMutants, ...tikvMutants])];

/** The mutant that the environment names (MUTANT). */
export function chosenMutant(): Mutant {
  const name = process.env['MUTANT'] ?? '';
  const mutant = allMutants.find((one) => one.name === name);
  if (mutant === undefined) throw new Error(`no mutant is called ${name}`);
  return mutant;
}
