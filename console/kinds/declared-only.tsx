// Kinds that only documents change, by the realm's setting `declaredOnly`: what a reader can do about them here. An open hold lets
// an object, or all of a kind, be edited as ever.
import { lazy, Suspense, useState } from 'react';
import { locksSection } from '../../server/contract/declared-only.ts';
import type { Permission } from '../../server/contract/permissions.ts';
import { useRead } from '../api/queries.ts';
import { useMay } from '../api/session.ts';
import { getRealm } from '../generated/routes.ts';
import { Badge } from '../ui/badge.tsx';
import { Button } from '../ui/button.tsx';
import { Note } from '../ui/state.tsx';
import { Time } from '../ui/time.tsx';
import { type Hold, type Holdable, type Managed, useHolds } from './managed.tsx';

const HoldDialog = lazy(async () => ({ default: (await import('./hold-dialog.tsx')).HoldDialog }));

/** Says of a section of the realm document whether only documents change it. */
export function useDeclaredOnly(realm: string): (section: string) => boolean {
  const may = useMay();
  const read = useRead(getRealm, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const sections = read.data?.body?.declaredOnly ?? [];
  return (section) => locksSection(sections, section);
}

export interface Lock {
  /** Only documents change the section. */
  isDeclaredOnly: boolean;
  /** The hold that opens the thing. */
  hold: Hold | undefined;
  /** It can't be changed here. */
  isLocked: boolean;
}

/** @param thing without a key: all of the kind */
export function useLock(realm: string, section: string, thing: Omit<Holdable, 'key'> & { key?: string }): Lock {
  const isDeclaredOnly = useDeclaredOnly(realm)(section);
  const holdOf = useHolds(realm, isDeclaredOnly);
  const hold = isDeclaredOnly ? holdOf({ kind: thing.kind, key: thing.key ?? '' }) : undefined;
  return { isDeclaredOnly, hold, isLocked: isDeclaredOnly && hold === undefined };
}

/** Every field as if a manager declared it; `''` in place of the manager where none does yet. */
export const allDeclared = (managed: Managed | undefined, fields: readonly string[]): Managed =>
  new Map([
    ...fields.map((field): [string, string] => [field, managed?.get(field) ?? '']),
    ['', managed?.get('') ?? ''],
  ]);

export function DeclaredOnlyBadge({ lock }: { lock: Lock }) {
  return lock.isDeclaredOnly ? <Badge tone={lock.hold ? 'warn' : 'info'}>declared only</Badge> : null;
}

/** Above a list, or a page of its own kind: why it can't be changed here, and the ways on. */
export function DeclaredOnlyNote({
  realm,
  section,
  kind,
  many,
  write,
  things = [{ kind }],
}: {
  realm: string;
  section: string;
  kind: string;
  many: string;
  /** The permission to change it, which a hold needs too. */
  write: Permission | null;
  /** What a hold would name; default: all of the kind. */
  things?: readonly (Omit<Holdable, 'key'> & { key?: string })[];
}) {
  const may = useMay();
  const [first] = things;
  const lock = useLock(realm, section, first ?? { kind });
  const [holds, setHolds] = useState(false);
  if (!lock.isDeclaredOnly || !may(realm, write)) return null;
  if (lock.hold)
    return (
      <Note tone="warn">
        <strong>
          A hold lets {many} be changed here; it ends <Time ms={lock.hold.until} />.
        </strong>
        <span>
          <bdi>{lock.hold.placedBy?.name ?? 'An erased user'}</bdi>: <bdi>{lock.hold.reason}</bdi>
        </span>
      </Note>
    );
  return (
    <>
      <Note>
        <strong>Only documents change {many} of this realm.</strong>
        <span>
          Declare the change where its manager reads it. What is changed here by hand is refused, unless a hold stands.
        </span>
        {may(realm, 'holds:write') && (
          <span className="row">
            <Button small icon="pin" onPress={() => setHolds(true)}>
              Hold…
            </Button>
          </span>
        )}
      </Note>
      {holds && (
        <Suspense>
          <HoldDialog realm={realm} things={things} isFirst={kind !== 'settings'} onClose={() => setHolds(false)} />
        </Suspense>
      )}
    </>
  );
}
