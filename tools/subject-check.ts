/*
 * The rule for the subject of a commit (HACKING.md): the package, a colon, and an imperative sentence that names the
 * change. `tools/check-subjects.ts` runs it on commits.
 */

const SUBJECT_MAX = 120;

/** Commits before this keep the subjects that they have: what is in a history cannot be mended. */
export const CHECKED_SINCE = '2026-11-26T04:00:00Z';

/** `wire`, `e2e/fuzz`, `member, backend`. */
const SCOPE = /^[a-z0-9][a-z0-9./-]*(?:, [a-z0-9][a-z0-9./-]*)*$/;

/** Verbs that begin a subject. A new one is added here. */
const VERBS: ReadonlySet<string> = new Set(
  `accept acknowledge add adopt advance alert allow announce answer apply append ask assert assign attack avoid await back
  balance begin bind bound break bring build bump cache call cancel carry catch chain change charge check choose clean clear
  close collect commit compact compare compile complete compose compress compute confirm connect copy correct count cover create
  cut deal decide declare decode defer delete deliver depose derive describe detect discard dispose document draw drive drop
  dump encode end enforce enter erase evict exclude excuse expect explain export extend extract fail fall fence fetch fill find
  finish fit fix flush fold follow forget format forward free gather generate give go grant group guard hand hash have hide
  hold hurry ignore import improve include increase index inject insert inspect install interrupt join judge keep kill lay
  lead learn leave let lift limit link list listen load lock log look lose lower make map mark match measure meter merge move
  name narrow note notice obey offer omit open order overwrite own pace page parse pass pause peek pin place plan play poll
  prefer prepare preserve prevent print probe propose protect prove publish pull push put qualify queue raise reach read
  rebuild recall receive recognise record recover reduce refuse register reject release reload remember remove rename render
  renew repair repeat replace replay report request require reserve reset resolve respect restart restore resume retry return
  reuse revoke rewrite roll run save say scan schedule script seal search seed send separate sequence serve set settle shape
  share shorten show shrink sign simplify simulate skip sleep slice sort speak speed split spread stage start state step stop
  store stream strip swap sync take teach tell terminate test throw tidy tie time tolerate trace translate treat trim trust try
  turn type undo unify update use validate verify visit vote wait wake walk warn watch weigh widen wind wrap write yield`
    .split(/\s+/)
    .filter((verb) => verb !== ''),
);

/** What is wrong with a subject; undefined if nothing is. Subjects that git itself writes for reverts are as they must be. */
export function subjectFault(subject: string): string | undefined {
  if (/^Revert "/.test(subject)) return undefined;
  if (subject.length > SUBJECT_MAX) return `it has ${subject.length} characters, above ${SUBJECT_MAX}`;
  const colon = subject.indexOf(': ');
  if (colon < 0) return 'it names no package before a colon';
  if (!SCOPE.test(subject.slice(0, colon))) return `"${subject.slice(0, colon)}" is no package or folder`;
  const sentence = subject.slice(colon + 2);
  if (sentence.endsWith('.')) return 'it ends with a full stop';
  const verb = /^[a-z]+(?=[ ,]|$)/.exec(sentence)?.[0];
  if (verb === undefined || !VERBS.has(verb)) {
    return `"${sentence.split(' ')[0]}" is no verb that tools/subject-check.ts knows: begin with what the change does`;
  }
  return sentence === verb ? 'it names a verb alone' : undefined;
}
