// `realmctl completion SHELL`: prints the script that a shell loads once; and `completion words`, which the script runs
// at each Tab.
import { Argument } from 'commander';
import { type Cli, examples, type Register } from '../command.ts';
import { type Candidate, type Completion, nextOf } from '../completion.ts';
import { type Shell, scripts } from '../completion-scripts.ts';
import { kinds } from '../kind-table.ts';
import { plain } from '../output.ts';

/** The user waits after pressing Tab, so names from a slower server are left out. */
const PATIENCE_MS = 3000;
const MOST = 100;

export const registerCompletion: Register = (program, cli) => {
  const command = program
    .command('completion')
    .description('print what makes your shell complete commands, options and names')
    .addArgument(new Argument('<shell>').choices([...Object.keys(scripts), 'words']))
    .addArgument(new Argument('[words...]', 'with words, which the shell asks itself: what has been typed'));
  examples(
    command,
    'source <(realmctl completion bash)                     # in ~/.bashrc',
    'source <(realmctl completion zsh)                      # in ~/.zshrc, behind compinit',
    'realmctl completion fish > ~/.config/fish/completions/realmctl.fish',
  ).action(async (shell: Shell | 'words', words: string[]) => {
    if (shell !== 'words') return void cli.io.stdout.write(scripts[shell]);
    const next = nextOf(program, words);
    const typed = words.at(-1) ?? '';
    const lines =
      next.of === 'files'
        ? [':files']
        : (await candidates(cli, next))
            .filter(({ word }) => word.startsWith(typed))
            .map(({ word, about }) => `${plain(word)}\t${plain(about)}`);
    if (lines.length > 0) cli.io.stdout.write(`${lines.join('\n')}\n`);
  });
};

/** Candidates for the next word. Empty without a sign-in, or if the server takes too long: completion shows no errors. */
async function candidates(cli: Cli, next: Exclude<Completion, { of: 'files' }>): Promise<Candidate[]> {
  if (next.of === 'words') return next.words;
  const name = next.of === 'realms' ? 'realms' : next.kind;
  const kind = kinds.find(({ plural, singular }) => plural === name || singular === name);
  if (!kind) return [];
  const found: Candidate[] = [];
  try {
    const realm = (next.of === 'names' ? next.realm : undefined) ?? (await cli.defaultRealm());
    if (kind.inRealm && realm === undefined) return [];
    const signal = AbortSignal.any([cli.signal, AbortSignal.timeout(PATIENCE_MS)]);
    const scope = { connection: await cli.connect(), realm: realm ?? '', signal };
    for await (const row of kind.rows(scope, {}, MOST)) {
      found.push({ word: row.name, about: '' });
      if (found.length === MOST) break;
    }
  } catch {
    // names that have arrived so far are shown
  }
  return found;
}
