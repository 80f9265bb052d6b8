// Finds the words that may come next on a command line: commands, options, their values, names of objects on the
// server. It reads them from the commander program. completion-scripts.ts connects it to shells.
import type { Argument, Command, Option } from 'commander';

export interface Candidate {
  word: string;
  about: string;
}
export type Completion =
  | { of: 'words'; words: Candidate[] }
  | { of: 'files' }
  | { of: 'realms' }
  /** Names of a kind's objects. */
  | { of: 'names'; kind: string; realm: string | undefined };

const NONE: Completion = { of: 'words', words: [] };

/** @param words the words after the program's name; the last is the one being typed */
export function nextOf(program: Command, words: readonly string[]): Completion {
  const typed = words.at(-1) ?? '';
  let command = program;
  let places = 0;
  let pending: Option | undefined;
  let realm: string | undefined;
  for (const word of words.slice(0, -1)) {
    if (word === '=') continue;
    if (pending) {
      if (pending.long === '--realm') realm = word;
      pending = undefined;
    } else if (word.startsWith('-')) {
      const [flag = '', value] = word.split('=', 2);
      const option = optionsOf(command).find((one) => one.long === flag || one.short === flag);
      if (option && value === undefined && (option.required || option.optional)) pending = option;
      else if (option?.long === '--realm') realm = value;
    } else {
      const inner = command.commands.find((one) => one.name() === word || one.aliases().includes(word));
      if (inner && places === 0) command = inner;
      else places += 1;
    }
  }
  if (pending) return valuesOf(pending.argChoices, pending.flags);
  if (typed.startsWith('-')) return { of: 'words', words: optionsOf(command).flatMap(flagOf) };
  const inner = places === 0 ? command.commands.filter((one) => one.name() !== 'help') : [];
  if (inner.length > 0)
    return { of: 'words', words: inner.map((one) => ({ word: one.name(), about: one.description() })) };
  return argumentOf(command, places, realm);
}

function argumentOf(command: Command, place: number, realm: string | undefined): Completion {
  const argument: Argument | undefined = command.registeredArguments[place] ?? last(command.registeredArguments);
  if (!argument) return NONE;
  const family = command.parent?.name();
  // the argument of `get clients` is a client
  if (family !== undefined && ['get', 'describe', 'edit', 'delete', 'disable', 'enable'].includes(family)) {
    const kind = argument.name() === 'name' ? command.name() : argument.name();
    return { of: 'names', kind, realm };
  }
  return valuesOf(argument.argChoices, argument.name());
}

const last = (all: readonly Argument[]): Argument | undefined => {
  const one = all.at(-1);
  return one?.variadic ? one : undefined;
};

function valuesOf(choices: readonly string[] | undefined, what: string): Completion {
  if (choices) return { of: 'words', words: choices.map((word) => ({ word, about: '' })) };
  if (/\brealm\b/.test(what)) return { of: 'realms' };
  return /<(?:file|dir|path)[^>]*>/.test(what) ? { of: 'files' } : NONE;
}

/** The options of the command, and those of the program, which every command takes. */
function optionsOf(command: Command): Option[] {
  const found: Option[] = [];
  for (let one: Command | null = command; one; one = one.parent) found.push(...one.options);
  return found.filter((option) => !option.hidden);
}

const flagOf = (option: Option): Candidate[] => (option.long ? [{ word: option.long, about: option.description }] : []);
