import { type FlagSpec, works } from './flag-spec.ts';

/** The flags of `engram mirror`. */
export const mirrorFlags: ReadonlyMap<string, FlagSpec> = new Map(
  [
    works('from', 'strings', 'http://localhost:2379', 'The endpoints of the store to read: an Engram, or an etcd.'),
    works('from-cacert', 'string', '', 'Its authority; asks for TLS.'),
    works('from-cert', 'string', '', 'Certificate shown to it.'),
    works('from-key', 'string', '', 'Key of --from-cert.'),
    works('from-user', 'string', '', 'name:password of a user of it who may do everything.'),
    works('to', 'strings', '', 'The endpoints of the etcd to write to, which nobody else writes to.'),
    works('to-cacert', 'string', '', 'Its authority; asks for TLS.'),
    works('to-cert', 'string', '', 'Certificate shown to it.'),
    works('to-key', 'string', '', 'Key of --to-cert.'),
    works('to-user', 'string', '', 'name:password of a user of it who may do everything.'),
    works('until-equal', 'bool', 'false', 'End with exit code 0 as soon as the two are equal.'),
  ].map((spec) => [spec.name, spec]),
);
