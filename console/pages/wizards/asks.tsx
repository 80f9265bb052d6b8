// The questions of a wizard: few fields, in the words of the task instead of the kind's own. Each names the place in the object
// that its answer fills, so that a fault that the contract or the server finds is shown at the question.
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { NumberField, type Option, Select, TextField } from '../../ui/fields.tsx';
import { Help } from '../../ui/help.tsx';
import { ListField } from '../../ui/list-field.tsx';

export type Answers = Readonly<Record<string, unknown>>;

export interface Ask {
  name: string;
  label: string;
  help?: string;
  /** Where the answer goes in the object: `config.issuer`. Absent: the ask's name. */
  at?: string;
  /** Absent: one line of text. A secret is kept in memory alone, never in the browser's storage. */
  is?: 'secret' | 'long-secret' | 'long' | 'list' | 'choice' | 'toggle' | 'reference' | 'number';
  /** Whether it may be left out, or when. */
  optional?: true | ((answers: Answers) => boolean);
  /** The answer until another is given. */
  fresh?: unknown;
  options?: readonly Option[];
  /** The kind that a reference names. */
  kind?: string;
  /** The word for one line of a list: `address`. */
  item?: string;
  placeholder?: string;
  /** Names, addresses and codes. */
  mono?: true;
  /** Whether it is asked, by the other answers. */
  when?: (answers: Answers) => boolean;
}

export const textOf = (answers: Answers, name: string): string => {
  const value = answers[name];
  return typeof value === 'string' ? value.trim() : '';
};
export const listOf = (answers: Answers, name: string): string[] => {
  const value = answers[name];
  return Array.isArray(value)
    ? value
        .map(String)
        .map((one) => one.trim())
        .filter((one) => one !== '')
    : [];
};
/** Fields whose answers are not empty. */
export const withoutEmpty = (fields: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(fields).filter(
      ([, value]) => value !== '' && value !== undefined && !(Array.isArray(value) && value.length === 0),
    ),
  );

/** The asks that these answers lead to. */
export const applicableAsks = (asks: readonly Ask[], answers: Answers): Ask[] =>
  asks.filter(({ when }) => when === undefined || when(answers));

/** The answers given, or else the fresh ones. */
export const withFresh = (asks: readonly Ask[], given: Answers): Answers => ({
  ...Object.fromEntries(asks.flatMap(({ name, fresh }) => (fresh === undefined ? [] : [[name, fresh]]))),
  ...given,
});

const isAnswered = (value: unknown): boolean =>
  Array.isArray(value) ? value.some((one) => String(one).trim() !== '') : String(value ?? '').trim() !== '';

const needOf = ({ label, is, item = 'line' }: Ask): string =>
  is === 'list' ? `at least one ${item} is needed` : `${label} is needed`;

/** The answers that are still needed. */
export function missingAnswers(asks: readonly Ask[], answers: Answers): Map<string, string> {
  const needed = asks.filter(
    ({ optional, is }) => !(typeof optional === 'function' ? optional(answers) : optional) && is !== 'toggle',
  );
  return new Map(needed.filter(({ name }) => !isAnswered(answers[name])).map((ask) => [ask.name, needOf(ask)]));
}

/** Faults of the object, at the asks that fill the faulty place; `rest` has those of places that no ask fills. */
export function placeFaults(faults: ReadonlyMap<string, string>, asks: readonly Ask[]) {
  const placed = new Map<string, string>();
  const rest = new Map<string, string>();
  for (const [path, message] of faults) {
    const ask = asks.find(
      ({ name, at = name }) => path === at || path.startsWith(`${at}[`) || path.startsWith(`${at}.`),
    );
    if (!ask) rest.set(path, message);
    else if (!placed.has(ask.name)) placed.set(ask.name, message);
  }
  return { placed, rest };
}

interface FieldProps {
  ask: Ask;
  realm: string;
  value: unknown;
  fault: string | undefined;
  onChange: (value: unknown) => void;
}

export function AskField({ ask, realm, value, fault, onChange }: FieldProps) {
  const { label, help, is, optional, options = [], kind = '', item = 'line', placeholder, mono } = ask;
  const words = { label, help: help && <Help text={help} />, fault, required: !optional };
  const text = typeof value === 'string' ? value : '';
  switch (is) {
    case 'toggle':
      return <Toggle {...words} isSelected={value === true} onChange={onChange} />;
    case 'list':
      return (
        <ListField
          {...words}
          value={Array.isArray(value) ? value.map(String) : ['']}
          onChange={onChange}
          item={item}
          mono
          {...(placeholder && { placeholder })}
        />
      );
    case 'choice':
      return <Select {...words} value={text === '' ? null : text} onChange={onChange} options={options} />;
    case 'reference':
      return (
        <ReferenceField {...words} realm={realm} kind={kind} value={text === '' ? null : text} onChange={onChange} />
      );
    case 'number':
      return (
        <NumberField
          {...words}
          value={text === '' ? null : Number(text)}
          onChange={(number) => onChange(number === null ? '' : String(number))}
          least={0}
          {...(placeholder && { placeholder })}
        />
      );
    case 'secret':
      return <TextField {...words} type="password" autoComplete="new-password" value={text} onChange={onChange} />;
    case 'long-secret':
    case 'long':
      return (
        <TextField {...words} rows={8} mono value={text} onChange={onChange} {...(placeholder && { placeholder })} />
      );
    default:
      return (
        <TextField
          {...words}
          value={text}
          onChange={onChange}
          {...(placeholder && { placeholder })}
          {...(mono && { mono })}
        />
      );
  }
}
