// The managers of the object that a form edits: which of its fields are read-only because of them, and the ways on.
import type { ReactNode } from 'react';
import { useFilters } from '../ui/filters.ts';
import { objectCommands } from './commands.ts';
import { asDeclared, type Copied, copyOfObject } from './copied.ts';
import { allDeclared, useLock } from './declared-only.tsx';
import type { Editing } from './editing.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import type { ObjectAddress } from './loaded.ts';
import { holdableOf, type Managed, managedOf, useHolds } from './managed.tsx';
import { COPY_MODE, HeldNote, ManagedWays } from './managed-ways.tsx';
import { declaredFields, documentOf } from './plan.ts';

/** How a form treats what managers declare. */
export interface ManagedForm {
  managed: Managed | undefined;
  /** Nothing is saved: the result is taken away as a declaration. */
  isCopy: boolean;
  /** A managed field may be edited nevertheless. */
  isOpen: (field: string) => boolean;
  /** At the top of the form. */
  ways: ReactNode;
}

/** Whether a field can't be edited here because its manager declares it. */
export const isDeclared = ({ managed, isOpen }: ManagedForm, field: string): boolean =>
  managed?.has(field) === true && !isOpen(field);

/** @param owner the clientId of the client that the object belongs to */
export function useManagedObject({
  entry,
  kind,
  address,
  owner,
  editing,
  isGone = false,
}: {
  entry: KindEntry;
  kind: LoadedKind;
  address: ObjectAddress;
  owner?: string | undefined;
  editing: Editing;
  /** The object was deleted since it was read. */
  isGone?: boolean;
}): ManagedForm & {
  /** A field of a manager that may be edited nevertheless: it is held. */
  isHeld: (field: string) => boolean;
  /** The declaration with the changes. @param stored as it is stored, with its managers */
  copy: (stored: Row, changed: Row) => Promise<Copied>;
} {
  const { realm } = address;
  const { before, fields } = editing;
  const filters = useFilters();
  const thing = holdableOf(entry, before, owner);
  const lock = useLock(realm, entry.section, thing);
  const declared = managedOf(before);
  const managed = lock.isDeclaredOnly
    ? allDeclared(
        declared,
        fields.map(({ name }) => name),
      )
    : declared;
  const isCopy = isGone || (managed !== undefined && filters.get(COPY_MODE.name) === COPY_MODE.value);
  const hold = useHolds(realm, managed !== undefined, !isGone)(thing);
  return {
    managed,
    isCopy,
    isOpen: () => isCopy || hold !== undefined,
    isHeld: () => hold !== undefined,
    copy: (stored, changed) => {
      const manager = (managedOf(stored) ?? managed)?.get('') ?? '';
      return copyOfObject(entry, kind, { realm, manager, owner }, stored, changed);
    },
    ways: managed
      ? !isGone && (
          <ManagedWays
            realm={realm}
            managed={managed}
            things={[thing]}
            write={entry.write}
            hold={hold}
            isCopy={isCopy}
            {...(lock.isDeclaredOnly && { declaredOnly: entry.many })}
            onMode={(on) => {
              // edits go along to where they are declared; they do not come back from there
              if (!on) editing.discard();
              filters.set({ [COPY_MODE.name]: on ? COPY_MODE.value : undefined });
            }}
            commands={async () => {
              const whole = documentOf(entry, kind, declaredFields(entry, kind, before), owner);
              const commands = await objectCommands(entry, address, before, whole);
              const manifest = await asDeclared(managed.get('') ?? '', commands.manifest);
              return { ...commands, ...(manifest !== undefined && { manifest }) };
            }}
          />
        )
      : hold && <HeldNote hold={hold} realm={realm} isManaged={false} />,
  };
}
