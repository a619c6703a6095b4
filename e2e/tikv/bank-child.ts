// Runs the callers of a bank in a separate process, which may be killed at any moment: node bank-child.ts PD RUN
import { TikvClient } from '@engram/tikv-client';
import { runBank } from './bank.ts';

const [pd, run] = process.argv.slice(2);
const client = await TikvClient.connect({ pdAddresses: pd!.split(',') });
await runBank(client, { accounts: 1_000, callers: 16, seconds: 3_600, timeoutMs: 15_000, run: run! });
