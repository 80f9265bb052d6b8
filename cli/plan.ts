// Owns: a plan as coloured text: created, changed and deleted objects, changes of ownership, conflicts.
// Does not own: the comparison, which the server does.
// Implements: decisions "Import, export, plan"; docs/cli.md: a coloured diff that reads like a good plan.

import { stringify } from 'yaml';
import { consequencesWithNumbers, consequenceText } from '../server/contract/consequence-words.ts';
import { isObject } from '../server/contract/json.ts';
import { wholeKinds } from '../server/contract/sections.ts';
import type { Change, HeldChange, KeptObject, KeptSecret, OwnershipMove, Plan } from '../server/contract/transfer.ts';
import type { Io } from './command.ts';
import type { MissingSecret } from './declared.ts';
import { paint, plain } from './output.ts';

const WIDE = 160;
/** Longer lines are broken behind a comma. */
const LONGEST_LINE = 240;

/** A realm's plan, or why there is no plan. */
export interface Planned {
  realm: string;
  /** The object that the plan concerns; undefined: everything that the files declare for the realm. */
  object?: string;
  plan: Plan;
  /** Secrets whose values no file contains. */
  notCompared: readonly MissingSecret[];
}

/** Objects with a value that could not be compared. */
const subjectsOf = (notCompared: Planned['notCompared']): string[] =>
  notCompared.flatMap(({ subject }) => subject.map(({ kind, key }) => `${kind} ${key}`));

/** Whether nothing differs, apart from values that could not be compared. */
export function inSync({ plan, notCompared }: Planned): boolean {
  if (plan.inSync) return true;
  const subjects = subjectsOf(notCompared);
  return (
    plan.changes.length === 0 &&
    plan.conflicts.length === 0 &&
    plan.ownership.length > 0 &&
    plan.ownership.every(({ action, kind, key }) => action === 'fields' && subjects.includes(`${kind} ${key}`))
  );
}

/** A text for the terminal in lines of a readable length. */
function broken(text: string): string[] {
  if (text.length <= LONGEST_LINE) return [text];
  const lines: string[] = [];
  for (const piece of text.split(/(?<=, )/)) {
    const last = lines.at(-1);
    if (last === undefined || last.length + piece.length > WIDE)
      lines.push(lines.length === 0 ? piece : `    ${piece}`);
    else lines[lines.length - 1] = last + piece;
  }
  return lines.map((line) => line.trimEnd());
}

export function planText(io: Pick<Io, 'colour'>, planned: Planned): string {
  const { realm, object, plan, notCompared } = planned;
  const styled = (style: Parameters<typeof paint>[1], text: string): string[] =>
    broken(plain(text)).map((line) => paint(io, style, line));
  const title = paint(io, 'bold', plain(object === undefined ? `Realm ${realm}` : `${object} in realm ${realm}`));
  const lines = [
    ...plan.changes.flatMap((change) => changeLines(io, change)),
    ...plan.kept.flatMap((one) => styled('dim', `= keep ${keptText(one)}`)),
    ...plan.held.flatMap((one) => styled('yellow', `= held: ${heldText(one)}`)),
    ...plan.keptSecrets.flatMap((one) => styled('dim', `= keep the ${keptSecretText(one)}`)),
    ...plan.warnings.flatMap(({ kind, key, message }) => styled('yellow', `! ${kind} ${key} ${message}`)),
    ...consequencesWithNumbers(plan).flatMap((one) =>
      styled(
        one.locksOut ? 'red' : 'yellow',
        `${one.locksOut ? '! locks out:' : '! touches:'} ${consequenceText(one)}`,
      ),
    ),
    ...undeclaredLines(io, plan),
    ...handed(io, planned),
    ...byManager(
      plan.conflicts.map(({ kind, key, path, manager }) => [manager, path ? `${kind} ${path}` : `${kind} ${key}`]),
    ).flatMap(([manager, names]) => styled('red', `! in conflict, managed by ${manager}: ${names}`)),
    ...notCompared.map(({ secret, key, object }) =>
      paint(
        io,
        'dim',
        `? ${plain(`${object}: not compared: the key ${key} of the Secret ${secret}, which is in no file`)}`,
      ),
    ),
  ];
  if (lines.length === 0) return `${title}  ${paint(io, 'dim', 'in sync')}`;
  return [title, ...lines.map((line) => `  ${line}`)].join('\n');
}

/** `update client web waits until 2026-01-31T18:00:00Z, held by ana: the shop is down` */
const heldText = ({ action, kind, key, path, hold }: HeldChange): string => {
  const until = `${new Date(hold.until).toISOString().slice(0, 19)}Z`;
  return `${action} ${kind} ${path ?? key} waits until ${until}, held by ${hold.by ?? 'an administrator'}: ${hold.reason}`;
};

/** `client web: still used by workloadIdentity ci` */
export const keptText = ({ kind, key, usedBy }: KeptObject): string => {
  const users = usedBy.map((user) => [user.kind, user.path ?? user.key].join(' ')).join(', ');
  return `${kind} ${key}: still used${users === '' ? '' : ` by ${users}`}`;
};

/** Lists the objects that the files no longer declare: they stay unless they are pruned. */
function undeclaredLines(io: Pick<Io, 'colour'>, { manager, undeclared, undeclaredUsers }: Plan): string[] {
  const { count, usernames } = undeclaredUsers;
  const people = usernames.length > 0 ? usernames.map((name) => `user ${name}`) : [`${count} users`];
  const said = (how: string, names: string[]) =>
    broken(
      plain(`= left as it is, ${manager} still manages what the files no longer hold (${how}): ${names.join(', ')}`),
    ).map((line) => paint(io, 'yellow', line));
  return [
    ...(undeclared.length > 0
      ? said(
          '--prune deletes it',
          undeclared.map(({ kind, key, path }) => `${kind} ${path ?? key}`),
        )
      : []),
    ...(count > 0 ? said('--prune deletes people where the files hold users, be it an empty list', people) : []),
  ];
}

const undeclaredOf = ({ undeclared, undeclaredUsers }: Plan): number => undeclared.length + undeclaredUsers.count;

/** `secret of client billing: the server has no SVC_VAR_BILLING` */
const keptSecretText = ({ kind, key, path, because, variable }: KeptSecret): string => {
  const reasons = {
    variableNotSet: `the server has no ${variable}`,
    notCompared: 'not compared, which needs the right to write it',
    notRecorded: 'no plan records what it was',
  };
  return `${path} of ${kind} ${key}: ${reasons[because]}`;
};

/** Groups names by manager, as texts that are safe for a terminal. */
function byManager(pairs: readonly [manager: string, name: string][]): [string, string][] {
  const managers = [...new Set(pairs.map(([manager]) => manager))];
  return managers.map((one) => [
    plain(one),
    plain(
      pairs
        .filter(([manager]) => manager === one)
        .map(([, name]) => name)
        .join(', '),
    ),
  ]);
}

const signs = { create: '+', update: '~', delete: '-' } as const;
const colours = { create: 'green', update: 'yellow', delete: 'red' } as const;

function changeLines(io: Pick<Io, 'colour'>, { action, kind, key, fields }: Change): string[] {
  const name = plain(wholeKinds.has(kind) ? kind : `${kind} ${key}`);
  const head = paint(io, colours[action], `${signs[action]} ${action} ${name}`);
  if (action === 'delete') return [head];
  const shown = fields.flatMap(({ path, from, to }) =>
    action === 'create' ? given(path, to) : differences(path, from, to),
  );
  return [head, ...shown.map((line) => `    ${line}`)];
}

const MOST_LINES = 60;
/** Prints a nested value as YAML, as files contain it: that is easier to read than one line. */
function given(path: string, to: unknown): string[] {
  if (scalar(to) || (isList(to) && to.every(scalar))) return [`${plain(path)}: ${value(to)}`];
  const lines = stringify(to).trimEnd().split('\n');
  const more = lines.length - MOST_LINES;
  return [
    `${plain(path)}:`,
    ...lines.slice(0, MOST_LINES).map((line) => `  ${plain(line)}`),
    ...(more > 0 ? [`  … ${more} more lines`] : []),
  ];
}

/** Lists changes of ownership, without the obvious ones: a created object is always taken, a deleted one released. */
function handed(
  io: Pick<Io, 'colour'>,
  { plan: { changes, ownership, kept, manager }, notCompared }: Planned,
): string[] {
  const subjects = subjectsOf(notCompared);
  const said = new Set([
    ...kept.map(({ kind, key }) => `${kind} ${key}`),
    ...changes.filter(({ action }) => action !== 'update').map(({ kind, key }) => `${kind} ${key}`),
    ...changes
      .filter(({ kind }) => wholeKinds.has(kind))
      .flatMap(({ kind, fields }) => fields.map(({ path }) => `${kind} ${path}`)),
  ]);
  const of = (is: (move: OwnershipMove) => boolean): [string, string][] =>
    ownership
      .filter(is)
      .map(({ kind, key, from = '' }): [string, string] => [from, `${kind} ${key}`])
      .filter(([from, name]) => from !== '' || !said.has(name));
  const lines = [
    ...byManager(of(({ from }) => from !== undefined)).map(([from, names]) => `take over from ${from}: ${names}`),
    ...byManager(of(({ action, from }) => action === 'take' && from === undefined)).map(
      ([, names]) => `manage as ${plain(manager)} from now on: ${names}`,
    ),
    ...byManager(of(({ action, kind, key }) => action === 'fields' && !subjects.includes(`${kind} ${key}`))).map(
      ([, names]) => `declare other fields of: ${names}`,
    ),
    ...byManager(of(({ action }) => action === 'release')).map(([, names]) => `no longer manage: ${names}`),
  ];
  return lines.flatMap((line) => broken(`> ${line}`).map((one) => paint(io, 'magenta', one)));
}

const isList = (v: unknown): v is unknown[] => Array.isArray(v);
const scalar = (v: unknown) => typeof v !== 'object' || v === null;

/** Descends to the values that differ, so that a changed step of a flow isn't printed as a wall of JSON. */
function differences(path: string, from: unknown, to: unknown): string[] {
  if (JSON.stringify(from) === JSON.stringify(to) && from !== '***') return [];
  if (isObject(from) && isObject(to)) {
    const keys = new Set([...Object.keys(from), ...Object.keys(to)]);
    return [...keys].flatMap((key) => differences(`${path}.${key}`, from[key], to[key]));
  }
  if (isList(from) && isList(to)) {
    if (from.every(scalar) && to.every(scalar)) return broken(`${plain(path)}: ${listed(from, to)}`);
    const longest = Math.max(from.length, to.length);
    return Array.from({ length: longest }, (_, i) => differences(`${path}[${i}]`, from[i], to[i])).flat();
  }
  return [`${plain(path)}: ${value(from)} → ${value(to)}`];
}

function listed(from: readonly unknown[], to: readonly unknown[]): string {
  const gone = from.filter((one) => !to.includes(one)).map((one) => `- ${value(one)}`);
  const come = to.filter((one) => !from.includes(one)).map((one) => `+ ${value(one)}`);
  const changes = [...gone, ...come];
  return changes.length > 0 ? changes.join(', ') : `${value(from)} → ${value(to)}`;
}

function value(of: unknown): string {
  if (of === undefined || of === null) return 'nothing';
  if (of === '***') return '***';
  const text = JSON.stringify(of);
  return plain(text.length > WIDE ? `${text.slice(0, WIDE)}…` : text);
}

/** `2 to create, 1 to update, 0 to delete in 2 realms`. */
export function sumText(all: readonly Planned[]): string {
  const sum = (of: 'create' | 'update' | 'delete') => all.reduce((n, { plan }) => n + plan.summary[of], 0);
  const conflicts = all.reduce((n, { plan }) => n + plan.conflicts.length, 0);
  const realms = new Set(all.map(({ realm }) => realm));
  const where = realms.size === 1 ? `realm ${all[0]?.realm}` : `${realms.size} realms`;
  const lost = all.reduce((n, { plan }) => n + undeclaredOf(plan), 0);
  if (all.every(inSync))
    return lost > 0 ? `In sync but for ${lost} that the files no longer hold: ${where}.` : `In sync: ${where}.`;
  const counts = `${sum('create')} to create, ${sum('update')} to update, ${sum('delete')} to delete`;
  return `${counts}${conflicts > 0 ? `, ${conflicts} in conflict` : ''} in ${where}.`;
}

/** `2 created, 1 updated`. */
export function doneText({ summary }: Plan): string {
  const { create, update, delete: remove } = summary;
  const counts = [`${create} created`, `${update} updated`, `${remove} deleted`].filter(
    (text) => !text.startsWith('0'),
  );
  return counts.join(', ') || 'what is managed by whom';
}
