import { startLoneMember } from '@engram/member';
import { openData } from './data-directory.ts';
import type { NodeConfig } from '../config/node-config.ts';
import { memberOptions, type StartedMember, type StartParts } from './started-member.ts';

const SCRUB_PAUSE_MS = 3_600_000;

/** Starts the configured member. `opened` disposes of it. */
export async function startMember(
  config: NodeConfig,
  parts: StartParts,
  opened: AsyncDisposableStack,
): Promise<StartedMember> {
  if (config.cluster !== undefined) {
    // A node on its own does not load the clients of TiKV and of peers, which take 15 MiB.
    const { startInCluster } = await import('./start-in-cluster.ts');
    return await startInCluster(config, config.cluster, parts, opened);
  }
  const { storage, identity } = await openData(config, parts);
  const { startCount, ...ids } = identity;
  const { scrubBytesPerSecond: bytesPerSecond } = config;
  const scrub = bytesPerSecond > 0 ? { bytesPerSecond, pauseMs: SCRUB_PAUSE_MS } : undefined;
  const member = opened.use(
    await startLoneMember({ ...memberOptions(config, parts, ids), storage, startCount, scrub }),
  );
  const alone = { localBytes: () => undefined, logHolders: () => [], resources: [], peers: [] };
  return { member, identity, ready: async () => {}, ...alone };
}
