const HIDDEN = '***';
/** Flags that name a password, perhaps with their value. */
const secret = /^(--?(?:from-user|to-user|discovery-password))(?:=[\s\S]*)?$/;

/** Arguments as they may be told to everybody: to who reads the log, and to clients, who are not asked who they are. */
export function shownArguments(args: readonly string[]): readonly string[] {
  let isValue = false;
  return args.map((arg) => {
    if (isValue) {
      isValue = false;
      return HIDDEN;
    }
    const flag = secret.exec(arg)?.[1];
    isValue = flag === arg;
    return flag === undefined || isValue ? arg : `${flag}=${HIDDEN}`;
  });
}
