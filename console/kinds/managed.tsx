// Objects and fields that a manager declares (an operator, a pipeline): which one, and what the reader can do about it. Answers
// name managers where a request asks for them: `?with=managedBy`.
import { lazy, type ReactNode, Suspense, useState } from 'react';
import type { ManagedBy } from '../../server/contract/managed-by.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import type { OutputOf } from '../api/client.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { listHolds } from '../generated/routes.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import type { KindEntry, Row } from './entry.ts';
import { shortManager } from './managers.ts';

const ManagerDialog = lazy(() => import('./manager-dialog.tsx'));

/** By field: its manager's name. `''` is the object as a whole. */
export type Managed = ReadonlyMap<string, string>;

const isManagedBy = (value: unknown): value is ManagedBy =>
  Array.isArray(value) && value.every((one) => typeof one?.manager === 'string' && Array.isArray(one.fields));

/** The fields of an object with a manager each; undefined: no manager owns any of it. */
export function managedOf(row: object | undefined): Managed | undefined {
  const { managedBy } = Object(row);
  if (!isManagedBy(managedBy) || managedBy.length === 0) return undefined;
  const fields = managedBy.flatMap(({ manager, fields: declared }) =>
    declared.map((field): [string, string] => [field.split(/[.[]/)[0] ?? field, manager]),
  );
  const [first] = managedBy;
  return new Map([...fields, ['', first?.manager ?? '']]);
}
/** Without the fields on which a hold stands. */
export const unheld = (managed: Managed | undefined, isHeld: (field: string) => boolean): Managed | undefined =>
  managed && new Map([...managed].filter(([field]) => field === '' || !isHeld(field)));
export const fieldsOf = (managed: Managed): string[] => [...managed.keys()].filter((field) => field !== '');

/** A thing that a hold names: its kind and its key, as plans have them. */
export interface Holdable {
  kind: string;
  key: string;
}

/** What the dialog of the managers offers besides their words. */
export interface ManagedThing extends Holdable {
  /** The permission to change it, which a hold needs too. */
  write: Permission | null;
  /** The address of its form, if it has one. */
  form?: string;
}

export type Hold = OutputOf<typeof listHolds>[number];

/** How soon a page shows what became of a managed object: a hold was placed or ended, its manager applied. */
const OBJECT_SECONDS = 5;
const HOLDS_SECONDS = 10;

/** For objects on a page of their own. */
export const watchSeconds = (row: object | undefined): number | undefined =>
  managedOf(row) === undefined ? undefined : OBJECT_SECONDS;

/**
 * Finds the hold that keeps documents from changing a thing now.
 * @param isAsked false: a manager has to own the thing; a hold outlives the manager
 */
export function useHolds(
  realm: string,
  isManaged: boolean,
  isAsked = isManaged,
): (thing: Holdable) => Hold | undefined {
  const may = useMay();
  const holds = useRead(
    listHolds,
    { params: { realm }, query: { limit: 1000 } },
    {
      enabled: isAsked && may(realm, 'holds:read'),
      everySeconds: (standing = []) => (isManaged || standing.length > 0 ? HOLDS_SECONDS : undefined),
    },
  );
  const now = Date.now();
  return ({ kind, key }) =>
    holds.data?.body?.find(
      ({ what, until }) =>
        until > now && what.some((one) => one.kind === kind && (one.key === undefined || one.key === key)),
    );
}

/** The key of an object in plans and holds. @param owner the clientId of the client that it belongs to */
export function holdableOf(entry: KindEntry, row: Row, owner?: string): Holdable {
  const own = [entry.key]
    .flat()
    .map((field) => String(row[field] ?? ''))
    .join('/');
  const client = owner?.replaceAll('%', '%25').replaceAll('/', '%2F');
  return { kind: entry.kind, key: client === undefined ? own : `${client}/${own}` };
}

/**
 * Names the manager; a press tells all about it.
 * @param thing what a hold would name; without it the dialog offers none
 */
export function ManagedBadge({
  managed,
  realm,
  thing,
}: {
  managed: Managed | undefined;
  realm: string;
  thing?: ManagedThing | undefined;
}) {
  const [isOpen, setOpen] = useState(false);
  const manager = managed?.get('');
  if (!managed || manager === undefined) return null;
  const others = new Set(managed.values()).size - 1;
  return (
    <>
      <Button small variant="quiet" onPress={() => setOpen(true)} className="managed-badge">
        <Badge tone="info">
          Declared by {shortManager(manager)}
          {others > 0 && ` and ${others} more`}
        </Badge>
      </Button>
      {isOpen && (
        <Suspense>
          <ManagerDialog managed={managed} realm={realm} thing={thing} onClose={() => setOpen(false)} />
        </Suspense>
      )}
    </>
  );
}

/** The manager of a row, in a list. */
export function ManagerCell({ row }: { row: Row }) {
  const manager = managedOf(row)?.get('');
  return manager === undefined ? (
    <span className="none">none</span>
  ) : (
    <Badge tone="info">{shortManager(manager)}</Badge>
  );
}

/** @param children gets whether the field is read-only because of its manager */
export function ManagedField({
  name,
  managed,
  isOpen = false,
  children,
}: {
  name: string;
  managed: Managed | undefined;
  /** It may be edited nevertheless: it is held, or nothing is saved. */
  isOpen?: boolean;
  children: (isManaged: boolean) => ReactNode;
}) {
  const manager = managed?.get(name);
  return (
    <div className={manager === undefined ? undefined : 'managed-field'} data-field={name}>
      {children(manager !== undefined && !isOpen)}
      {manager && (
        <p className="hint">
          Declared by <bdi>{shortManager(manager)}</bdi>
          {!isOpen && '. Change it there, or use one of the ways at the top of the form.'}
        </p>
      )}
    </div>
  );
}
