// Describes a field's error in words that follow its name: `clients[0].secret must be a string, not null`. Used for
// every schema of every program that has no specific message.
import { z } from 'zod';
import { similarName } from './similar.ts';

const kinds: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};
const kindOf = (value: unknown): string => {
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  return kind === 'boolean' ? String(value) : (kinds[kind] ?? kind);
};
const sized: Record<string, [one: string, many: string]> = {
  string: ['character', 'characters'],
  array: ['entry', 'entries'],
};
const formats: Record<string, string> = {
  email: 'must be an e-mail address',
  url: 'must be an absolute address',
  uuid: 'must be a UUID',
};

interface Bound {
  origin: string;
  limit: number | bigint;
  exact?: boolean | undefined;
}

function bound(much: 'at least' | 'at most', { origin, limit, exact }: Bound): string {
  const amount = `${exact ? 'exactly' : much} ${limit}`;
  const unit = sized[origin];
  if (!unit) return `must be ${amount}`;
  if (much === 'at least' && limit === 1) return 'must not be empty';
  return `must have ${amount} ${limit === 1 ? unit[0] : unit[1]}`;
}

const UNKNOWN = 'is not a known field';
/** A body may have thousands of unknown fields, and long ones. */
const MOST_MEANT = 10;
const LONGEST_KEY = 200;
/** In JSON's form, so that a key has no line break. */
const NAMED = /^"(?:[^"\\]|\\.)*" /;

export const unknownField = (key: string, known: readonly string[]): string => {
  const meant = similarName(key, known);
  return meant === undefined ? UNKNOWN : `${UNKNOWN}; did you mean ${meant}?`;
};

/** The words for one of an issue's unknown keys, without the key: the message has a line for each of the first. */
export function unknownFieldWords({ message }: { message: string }, index: number): string {
  const words = message.split('\n', MOST_MEANT)[index]?.replace(NAMED, '');
  return words?.startsWith(UNKNOWN) ? words : UNKNOWN;
}

z.config({
  customError: (issue) => {
    switch (issue.code) {
      case 'invalid_type': {
        if (issue.input === undefined) return 'is required';
        const wanted = kinds[issue.expected];
        if (wanted === undefined) return undefined;
        const given = kindOf(issue.input);
        // 1.5 for a whole number, or text that is no number.
        const isNumber = issue.expected === 'int' || issue.expected === 'number';
        return isNumber && given === 'a number' ? `must be ${wanted}` : `must be ${wanted}, not ${given}`;
      }
      case 'invalid_value':
        return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`;
      case 'too_small':
        if (issue.inclusive === false) return undefined;
        return bound('at least', { ...issue, limit: issue.minimum });
      case 'too_big':
        if (issue.inclusive === false) return undefined;
        return bound('at most', { ...issue, limit: issue.maximum });
      case 'invalid_format':
        return issue.format === 'regex' ? `must match ${issue.pattern}` : formats[issue.format];
      case 'unrecognized_keys': {
        const known = issue.inst instanceof z.ZodObject ? Object.keys(issue.inst.shape) : [];
        return issue.keys
          .slice(0, MOST_MEANT)
          .map((key) => `${JSON.stringify(key.slice(0, LONGEST_KEY))} ${unknownField(key, known)}`)
          .join('\n');
      }
      case 'invalid_key':
        return `has a key that ${issue.issues[0]?.message ?? 'is not allowed'}`;
      default:
        return undefined;
    }
  },
});
