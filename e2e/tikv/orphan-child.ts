// Locks keys and never commits them. Reports that on stdout and waits to be killed:
//   node orphan-child.ts PD 2pc|async KEY VALUE ...
import { TikvClient } from '@engram/tikv-client';
import { bytes } from './rows.ts';
import { silenceable } from './silence.ts';

const [pd, mode, ...entries] = process.argv.slice(2);
const { transport, silence } = silenceable();
const client = await TikvClient.connect({
  pdAddresses: pd!.split(','),
  transport,
  observer: {
    storeCall: ({ command }) => {
      if (command !== 'Prewrite') return;
      silence();
      console.log('locked');
    },
  },
});
const txn = await client.begin();
for (let at = 0; at < entries.length; at += 2) txn.put(bytes(entries[at]!), bytes(entries[at + 1]!));
void txn.commit({ mode: mode === 'async' ? 'async' : '2pc', timeoutMs: 60_000 });
setInterval(() => {}, 1_000);
