import type { Command } from './command.ts';
import { badArguments } from './ctl-error.ts';
import type { FlagSpec } from './flags.ts';
import { globalFlags } from './global-flags.ts';
import { PROGRAM } from './help.ts';

export const shells = ['bash', 'zsh', 'fish'] as const;

/** The script that completes the program in a shell, for all these commands. Throws CtlError bad-arguments. */
export function completionScript(shell: string, commands: readonly Command[]): string {
  switch (shell) {
    case 'bash':
      return bash(commands);
    case 'zsh':
      return zsh(commands);
    case 'fish':
      return fish(commands);
    default:
      throw badArguments(
        `invalid argument ${JSON.stringify(shell)} for "${PROGRAM} completion": one of ${shells.join(', ')}`,
      );
  }
}

const flagsOf = ({ flags, ownArguments = false }: Command): readonly FlagSpec[] =>
  ownArguments ? flags : [...flags, ...globalFlags];
const words = (specs: readonly FlagSpec[]): string =>
  [...specs, { name: 'help', shorthand: 'h' }]
    .flatMap(({ name, shorthand }) => [`--${name}`, ...(shorthand === undefined ? [] : [`-${shorthand}`])])
    .join(' ');
/** Those that take a value, and what it may be. */
const withChoices = (specs: readonly FlagSpec[]): readonly FlagSpec[] =>
  specs.filter(({ choices }) => choices !== undefined);
const names = ({ name, shorthand }: FlagSpec, between: string): string =>
  [`--${name}`, ...(shorthand === undefined ? [] : [`-${shorthand}`])].join(between);

function bash(commands: readonly Command[]): string {
  const all = commands.flatMap(flagsOf);
  const choices = withChoices([...new Map(all.map((spec) => [spec.name, spec])).values()]).map(
    (spec) =>
      `    ${names(spec, '|')}) COMPREPLY=($(compgen -W '${(spec.choices ?? []).join(' ')}' -- "$word")); return ;;\n`,
  );
  const cases = commands.map((command) => {
    const { name, completes } = command;
    const args =
      completes === 'files'
        ? `COMPREPLY=($(compgen -f -- "$word"))`
        : `COMPREPLY=($(compgen -W '${(completes ?? []).join(' ')}' -- "$word"))`;
    return `    ${name})
      if [[ $word == -* ]]; then COMPREPLY=($(compgen -W '${words(flagsOf(command))}' -- "$word"))
      else ${args}; fi ;;\n`;
  });
  return `# bash completion of ${PROGRAM}: source <(${PROGRAM} completion bash)
_${PROGRAM}() {
  local word=\${COMP_WORDS[COMP_CWORD]} before=\${COMP_WORDS[COMP_CWORD-1]} command= at
  COMPREPLY=()
  case $before in
${choices.join('')}  esac
  for ((at = 1; at < COMP_CWORD; at++)); do
    case \${COMP_WORDS[at]} in
      ${commands.map(({ name }) => name).join('|')}) command=\${COMP_WORDS[at]}; break ;;
    esac
  done
  case $command in
${cases.join('')}    *) COMPREPLY=($(compgen -W '${commands.map(({ name }) => name).join(' ')} ${words(globalFlags)}' -- "$word")) ;;
  esac
}
complete -o default -F _${PROGRAM} ${PROGRAM}
`;
}

/** In single quotes, for zsh and fish. */
const quoted = (text: string): string => `'${text.replaceAll("'", "'\\''")}'`;

function zsh(commands: readonly Command[]): string {
  const described = (text: string): string => text.replaceAll('[', '\\[').replaceAll(']', '\\]').replaceAll(':', '\\:');
  const flagLine = ({ name, kind, help, choices }: FlagSpec, at: string): string => {
    const value = kind === 'bool' ? '' : `:value:${choices === undefined ? '_files' : `(${choices.join(' ')})`}`;
    return `${at}${quoted(`--${name}${kind === 'bool' ? '' : '='}[${described(help)}]${value}`)} \\\n`;
  };
  const cases = commands.map((command) => {
    const { name, completes } = command;
    const args = completes === 'files' ? '_files' : completes === undefined ? '' : `(${completes.join(' ')})`;
    const lines = flagsOf(command).map((spec) => flagLine(spec, '        '));
    return `    ${name})
      _arguments -s \\\n${lines.join('')}        ${quoted(`*:argument:${args}`)} ;;\n`;
  });
  return `#compdef ${PROGRAM}
# zsh completion of ${PROGRAM}: ${PROGRAM} completion zsh > "\${fpath[1]}/_${PROGRAM}"
_${PROGRAM}() {
  local -a commands=(
${commands.map(({ name, short }) => `    ${quoted(`${name}:${short}`)}\n`).join('')}  )
  if (( CURRENT == 2 )); then
    _describe command commands
    return
  fi
  shift words
  (( CURRENT-- ))
  case $words[1] in
${cases.join('')}  esac
}
compdef _${PROGRAM} ${PROGRAM}
`;
}

function fish(commands: readonly Command[]): string {
  const flagLine = ({ name, shorthand, kind, help, choices }: FlagSpec, when: string): string =>
    [
      `complete -c ${PROGRAM}${when} -l ${name}`,
      ...(shorthand === undefined ? [] : [`-s ${shorthand}`]),
      ...(kind === 'bool' ? [] : ['-r']),
      ...(choices === undefined ? [] : [`-f -a ${quoted(choices.join(' '))}`]),
      `-d ${quoted(help)}`,
    ].join(' ');
  const lines = commands.flatMap((command) => {
    const { name, short, flags, completes } = command;
    const within = ` -n ${quoted(`__fish_seen_subcommand_from ${name}`)}`;
    return [
      `complete -c ${PROGRAM} -f -n __fish_use_subcommand -a ${name} -d ${quoted(short)}`,
      ...flags.map((spec) => flagLine(spec, within)),
      ...(completes === 'files'
        ? [`complete -c ${PROGRAM}${within} -F`]
        : completes === undefined
          ? []
          : [`complete -c ${PROGRAM} -f${within} -a ${quoted(completes.join(' '))}`]),
    ];
  });
  return `# fish completion of ${PROGRAM}: ${PROGRAM} completion fish | source
${[...globalFlags.map((spec) => flagLine(spec, '')), ...lines].join('\n')}
`;
}
