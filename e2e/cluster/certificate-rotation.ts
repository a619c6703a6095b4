/**
 * Three members that ask for certificates, of clients and of each other. Their files are replaced, and the authority with them,
 * while they serve: see rotation.ts.
 *
 *   certificate-rotation.ts <folder>
 */
import { mkdirSync, renameSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Lab } from '../tikv/lab.ts';
import { Certificates } from './certificates.ts';
import { Checks } from './checks.ts';
import { type ClusterPlace, freePlaces, MemberProcess } from './cluster-member.ts';
import { RotationFiles, rotate, SIDES, type SecuredMembers } from './rotation.ts';

const folder = process.argv[2] ?? '.';
const files = new RotationFiles(new Certificates(join(folder, 'tls')), 'localhost', []);
const given = join(folder, 'given');
mkdirSync(given, { recursive: true });

/** As kubelet does it: a folder with all files, which a link comes to lead to at once. */
let gifts = 0;
const give: SecuredMembers['give'] = async (all) => {
  gifts += 1;
  for (const side of SIDES) {
    const made = join(given, `${side}-${gifts}`);
    mkdirSync(made);
    for (const [name, text] of Object.entries(all[side])) writeFileSync(join(made, name), text);
    symlinkSync(made, `${made}-link`);
    renameSync(`${made}-link`, join(given, side));
  }
};
await give(files.first);

const lab = await Lab.start(join(folder, 'lab'), { store: 'onenode', strict: false });
const place: ClusterPlace = {
  pd: lab.pdAddresses,
  prefix: 'rotation',
  peerScheme: 'https',
  members: await freePlaces(folder),
};
const flagsOf = (side: string, prefix: string): readonly string[] => [
  `--${prefix}cert-file=${join(given, side, 'cert')}`,
  `--${prefix}key-file=${join(given, side, 'key')}`,
  `--${prefix}trusted-ca-file=${join(given, side, 'ca')}`,
  `--${prefix}client-cert-auth`,
];
const members = place.members.map((member) => {
  const url = `https://127.0.0.1:${member.clientPort}`;
  const urls = [`--listen-client-urls=${url}`, `--advertise-client-urls=${url}`];
  return new MemberProcess(place, member, [...urls, ...flagsOf('client', ''), ...flagsOf('peer', 'peer-')]);
});
for (const member of members) member.start();
await Promise.all(members.map((member) => member.ready()));

const checks = new Checks(() => members);
await checks.check('new certificates and a new authority are taken without a restart, and no call fails', () =>
  rotate(
    {
      endpoints: {
        client: members.map(({ endpoint }) => endpoint),
        peer: place.members.map(({ peerPort }) => `127.0.0.1:${peerPort}`),
      },
      give,
      processes: async () => members.map(({ pid }) => pid).join(),
      killAndStart: async (at) => {
        const member = members[at]!;
        await member.kill();
        member.start();
        await member.ready();
      },
    },
    files,
    (_, work) => work(),
  ),
);
for (const member of members) await member.stop().catch(() => undefined);
await lab[Symbol.asyncDispose]();
console.log(`e2e-certificate-rotation: ${checks.passed} passed, ${checks.failed} failed`);
process.exit(checks.failed === 0 ? 0 : 1);
