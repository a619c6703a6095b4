// Proxies between clients and a lab, and ends itself at the first request that the strictest TiKV would refuse:
//   node strict-proxy.ts --pd HOST:PORT,... --refusal FILE [--any-client]
// Each PD member is reached at its port plus 5, each store at a port that the proxy's answers contain. Prints "ready" on
// stdout when it listens. A refusal is written to FILE and stderr, and the exit code is then 3. --any-client accepts
// requests that only some servers know, for clients other than this project's.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { StrictProxy } from '@engram/tikv-client/testing';

const PORT_STEP = 5;
const EXIT_REFUSED = 3;

const { values } = parseArgs({
  options: {
    pd: { type: 'string' },
    refusal: { type: 'string' },
    'any-client': { type: 'boolean', default: false },
  },
});
if (values.pd === undefined || values.refusal === undefined)
  throw new Error('usage: strict-proxy.ts --pd HOST:PORT,... --refusal FILE [--any-client]');
const { refusal: file } = values;
const proxy = await StrictProxy.start({
  pdAddresses: values.pd.split(','),
  ownClient: !values['any-client'],
  bindOf: (address) => {
    const [host, port] = address.split(':') as [string, string];
    return `${host}:${Number(port) + PORT_STEP}`;
  },
  refused: ({ message }) => {
    writeFileSync(file, message);
    console.error(`refused: ${message}`);
    process.exit(EXIT_REFUSED);
  },
});
console.log(`ready: PD at ${proxy.pdAddresses.join(',')}`);
