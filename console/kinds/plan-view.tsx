// The server's plan in words: what changes, what happens to whom, what another manager will say.
import { Badge } from '../ui/badge.tsx';
import { Note } from '../ui/state.tsx';
import { shortManager } from './managers.ts';
import { fieldsSetBack, type Plan } from './plan.ts';
import { inSentence, labelOf } from './words.ts';

const shown = (value: unknown): string =>
  value === undefined || value === null
    ? 'not set'
    : typeof value === 'string'
      ? value
      : Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')
        ? value.join('\n')
        : JSON.stringify(value, null, 2);

export function FromTo({ from, to }: { from: unknown; to: unknown }) {
  return (
    <div className="from-to">
      {from !== undefined && <del>{shown(from)}</del>}
      {to !== undefined && <ins>{shown(to)}</ins>}
    </div>
  );
}

const actions = { create: ['Create', 'good'], update: ['Change', 'info'], delete: ['Delete', 'bad'] } as const;

export function PlanChanges({ changes }: { changes: Plan['changes'] }) {
  return (
    <div className="plan">
      {changes.map(({ action, kind, key, fields }) => (
        <div key={`${kind} ${key} ${fields.map(({ path }) => path).join(' ')}`} className="plan-change">
          <p>
            <Badge tone={actions[action][1]}>{actions[action][0]}</Badge>
            <span>
              {inSentence(labelOf(kind))} <bdi>{key}</bdi>
            </span>
          </p>
          <div className="plan-fields">
            {fields.map(({ path, from, to }) => (
              <div key={path} className="plan-field">
                <code>{path}</code>
                <FromTo
                  from={action === 'create' ? undefined : (from ?? null)}
                  to={action === 'delete' ? undefined : (to ?? null)}
                />
              </div>
            ))}
          </div>
        </div>
      ))}
    </div>
  );
}

const people = (count: number, one: string, many: string) =>
  count === 0 ? [] : [`${count.toLocaleString('en')} ${count === 1 ? one : many}`];

/** @param byHand an administrator is about to make the change: a hold keeps documents away, and lets it pass */
export function PlanView({ plan, byHand = false }: { plan: Plan; byHand?: boolean }) {
  const { changes, consequences, conflicts, warnings, kept, held } = plan;
  const all = byHand ? [...changes, ...held] : changes;
  return (
    <div className="plan">
      {consequences.map(({ kind, key, path, message, locksOut, sessions, people: persons, clients }) => {
        const touched = [
          ...people(persons, 'person', 'people'),
          ...people(sessions, 'session', 'sessions'),
          ...people(clients, 'client', 'clients'),
        ];
        return (
          <Note key={`${kind} ${key} ${path} ${message}`} tone={locksOut ? 'bad' : 'warn'}>
            <span>
              <bdi>{key}</bdi>: {message}
            </span>
            {touched.length > 0 && <span className="small">It touches {touched.join(', ')}.</span>}
          </Note>
        );
      })}
      {conflicts.map(({ kind, key, path, manager }) => (
        <Note key={`${kind} ${key} ${path}`} tone="warn">
          <span>
            <strong>{path ?? `${labelOf(kind)} ${key}`}</strong> is managed by <code>{manager}</code>, which will set it
            back to what it declares.
          </span>
        </Note>
      ))}
      {[...fieldsSetBack(plan)].map(([manager, fields]) => (
        <Note key={manager} tone="warn">
          <span>
            <strong>{fields.join(', ')}</strong> {fields.length === 1 ? 'is' : 'are'} declared by{' '}
            <bdi>{shortManager(manager)}</bdi>, which will set {fields.length === 1 ? 'it' : 'them'} back to what it
            declares. Change {fields.length === 1 ? 'it' : 'them'} there, or place a hold first.
          </span>
        </Note>
      ))}
      {warnings.map(({ kind, key, message }) => (
        <Note key={`${kind} ${key} ${message}`} tone="warn">
          <span>
            <bdi>{key}</bdi>: {message}
          </span>
        </Note>
      ))}
      {kept.map(({ kind, key }) => (
        <Note key={`${kind} ${key}`}>
          The {inSentence(labelOf(kind))} <bdi>{key}</bdi> stays, because something else needs it.
        </Note>
      ))}
      {byHand && held.length > 0 && (
        <Note tone="warn">
          A hold stands here, so the change stays until the hold ends. The server plans nothing that is held: what the
          change does to sessions and clients is not known.
        </Note>
      )}
      {all.length === 0 ? <p className="soft">Nothing changes.</p> : <PlanChanges changes={all} />}
    </div>
  );
}
