// A plan in words, for the log, the event, the condition: the server's summary, and under Report field by field.
// Pure. Decisions "Custom resources": at most 20 changes, secrets as ***.
import { consequencesWithNumbers, consequenceText } from '../../server/contract/consequence-words.ts';
import type { Change, Plan } from '../../server/contract/transfer.ts';

const MOST = 20;
const WIDE = 200;

const NAMED = 5;
const SECRET = '***';

/** `take over webhook audit from cli:ana, create client web, update settings acme`, and the number of further changes. */
export function planWords({ changes, ownership, summary }: Plan): string {
  const taken = ownership.flatMap(({ kind, key, from }) => (from ? [`take over ${kind} ${key} from ${from}`] : []));
  const words = [...taken, ...changes.map(({ action, kind, key }) => `${action} ${kind} ${key}`)];
  return words.length === 0 ? summary.text : firstOf(words);
}

/**
 * Whether the plan only removes objects that pruning kept until now, for a spec that was applied before: that isn't
 * drift.
 */
export const onlyPrunes = ({ changes, ownership }: Plan): boolean =>
  changes.length > 0 &&
  changes.every(({ action }) => action === 'delete') &&
  ownership.every(({ action }) => action === 'release');

/** `client shop is held by ana until 2026-01-02T15:00:00Z: an outage; it differs in redirectUris`, for each held object. */
export function heldWords({ held }: Plan): string | undefined {
  if (held.length === 0) return undefined;
  const words = held.map(({ action, kind, key, path, fields, hold }) => {
    const name = path === undefined ? `${kind} ${key}` : `${kind} ${path}`;
    const until = `${new Date(hold.until).toISOString().slice(0, 19)}Z`;
    const waits =
      action === 'update' && path === undefined
        ? `it differs in ${fields.map((f) => f.path).join(', ')}`
        : `${action} waits`;
    return `${name} is held by ${hold.by ?? 'an administrator'} until ${until}: ${hold.reason}; ${waits}`;
  });
  return firstOf(words);
}

/**
 * `kept until nothing needs it any more: client web (used by workloadIdentity ci)`
 * @param named whether to name the objects that still need them: only for resources of the realm's own namespaces
 */
export function keptWords({ kept }: Plan, { named }: { named: boolean }): string {
  const words = kept.map(({ kind, key, usedBy }) => {
    const users = named ? usedBy.map((user) => [user.kind, user.path ?? user.key].join(' ')) : [];
    return `${kind} ${key}${users.length > 0 ? ` (used by ${firstOf(users)})` : ''}`;
  });
  return `kept until nothing in the realm needs it any more: ${firstOf(words)}`;
}

function firstOf(words: readonly string[]): string {
  const more = words.length - NAMED;
  return `${words.slice(0, NAMED).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

const shown = (value: unknown): string => {
  const text = JSON.stringify(value) ?? 'nothing';
  return text.length > WIDE ? `${text.slice(0, WIDE)}…` : text;
};

const lines = ({ action, kind, key, fields }: Change): string[] =>
  action === 'update'
    ? fields.map(({ path, from, to }) => `${kind} ${key}: ${path} ${shown(from)} → ${shown(to)}`)
    : [`${kind} ${key}: ${action}`];

/** One line for each change, from the server's value to the declared one. */
export const changeLines = ({ changes }: Plan): string[] => changes.flatMap(lines).slice(0, MOST);

/** The plan's consequences as a status field, if there are any. */
export function consequenceLines(plan: Plan): { consequences?: string[] } {
  const lines = consequencesWithNumbers(plan).map(consequenceText);
  return lines.length === 0 ? {} : { consequences: lines.slice(0, MOST) };
}

/** Whether the plan changes only secrets, which it shows as ***. */
export const onlySecrets = ({ changes }: Plan): boolean =>
  changes.length > 0 &&
  changes.every(
    ({ action, fields }) => action === 'update' && fields.every(({ from, to }) => from === SECRET && to === SECRET),
  );

/** Removes line breaks: a name from a user must not create a line that looks like another log entry. */
export const oneLine = (text: string): string =>
  text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, (c) => `\\u${(c.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
