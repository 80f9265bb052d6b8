// Editing settings of a realm, all of them or those of one topic: how they are written, how a document and a Realm resource say
// them, and the ways on for those that a manager declares.
import { freshSettings, SettingsInput } from '../../../server/contract/settings.ts';
import { type ConsoleAnswer, call } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { getSettings, putSettings } from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { asDeclared, commandOf } from '../../kinds/copied.ts';
import { contractFaults } from '../../kinds/create.tsx';
import { allDeclared, useDeclaredOnly } from '../../kinds/declared-only.tsx';
import { type Editing, EditingDialogs, useEditing } from '../../kinds/editing.tsx';
import type { Row } from '../../kinds/entry.ts';
import type { FieldGroup } from '../../kinds/fields.ts';
import { same } from '../../kinds/form.tsx';
import { fieldsOf, type Holdable, type Managed, managedOf, useHolds, watchSeconds } from '../../kinds/managed.tsx';
import type { ManagedForm } from '../../kinds/managed-object.tsx';
import { COPY_MODE, ManagedWays } from '../../kinds/managed-ways.tsx';
import { clusterResource, WITH_MANAGERS } from '../../kinds/managers.ts';
import { word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { useFilters } from '../../ui/filters.ts';
import { say } from '../../ui/toast.tsx';

/** The settings with their managers. */
export const useSettings = (realm: string, enabled = true) =>
  useRead(getSettings, { params: { realm }, query: WITH_MANAGERS }, { enabled, everySeconds: watchSeconds });

/** @param settings undefined: they are not read yet. Without them the commands would lack the manifest. */
export const SettingsCommands = ({ realm, settings }: { realm: string; settings: Row | undefined }) =>
  settings && (
    <AsCommand
      commands={async () => ({
        realmctl: `realmctl export ${word(realm)} --no-users -o yaml`,
        curl: curlOf(getSettings, { realm }),
        manifest: await realmManifest(realm, resourceOf(changedFromFresh(realm, settings))),
      })}
    />
  );

/** The settings that a manifest declares: those that differ from a new realm's. */
function changedFromFresh(realm: string, { realmId: _, managedBy: __, ...settings }: Row): Row {
  const fresh: Row = { ...freshSettings(realm), resourceIndicators: [] };
  return Object.fromEntries(Object.entries(settings).filter(([name, value]) => !same(value, fresh[name])));
}

/** Settings as the sections of a document. */
const documentOf = ({ resourceIndicators, ...realm }: Row): Row => ({
  ...(Object.keys(realm).length > 0 && { realm }),
  ...(resourceIndicators !== undefined && { resourceIndicators }),
});
/** The same as the fields of a Realm resource. */
const resourceOf = ({ resourceIndicators, ...settings }: Row): Row => ({
  ...(Object.keys(settings).length > 0 && { settings }),
  ...(resourceIndicators !== undefined && { resourceIndicators }),
});

/** @param said as in "Saved the settings." */
export function useSettingsEditing(
  realm: string,
  read: ConsoleAnswer<Row>,
  groups: readonly FieldGroup[],
  said: string,
): Editing {
  return useEditing({
    realm,
    read,
    fields: groups.flatMap(({ fields }) => fields),
    check: (changes) => contractFaults(SettingsInput, changes),
    write: (changes, tagged) => call(putSettings, { params: { realm }, body: changes, ...tagged }),
    readAgain: () => call(getSettings, { params: { realm }, query: WITH_MANAGERS }),
    onSaved: () => say(`Saved ${said}.`),
  });
}

/** What locks sections. It is never locked itself. */
const SETTING = 'declaredOnly';
/** Settings that only documents change are like those of a manager. */
const withDeclared = (managed: Managed | undefined, fields: readonly string[]): Managed | undefined =>
  fields.length === 0 ? managed : new Map([...(managed ?? []), ...allDeclared(managed, fields)]);

/** A setting in holds: each field is a thing of its own. */
const holdable = (field: string): Holdable => ({ kind: 'settings', key: field });
/** The managed fields of some groups that holds can name. */
function managedIn(groups: readonly FieldGroup[], managed: Managed): Managed | undefined {
  const own = groups
    .flatMap(({ fields }) => fields)
    .flatMap(({ name }): [string, string][] => {
      const manager = managed.get(name);
      return manager === undefined || name === 'resourceIndicators' ? [] : [[name, manager]];
    });
  return own.length === 0 ? undefined : new Map([...own, ['', own[0]?.[1] ?? '']]);
}

/** @param shown the groups that the form shows now */
export function useManagedSettings(editing: Editing, shown: readonly FieldGroup[], mayWrite: boolean): ManagedForm {
  const { realm, before, discard } = editing;
  const filters = useFilters();
  const isDeclaredOnly = useDeclaredOnly(realm);
  const locked = editing.fields.flatMap(({ name }) =>
    name !== SETTING && isDeclaredOnly(name === 'resourceIndicators' ? name : 'realm') ? [name] : [],
  );
  const managed = withDeclared(managedOf(before), locked);
  const holdOf = useHolds(realm, managed !== undefined);
  const isCopy = managed !== undefined && filters.get(COPY_MODE.name) === COPY_MODE.value;
  const here = managed && managedIn(shown, managed);
  const isHeld = (field: string) => holdOf(holdable(field)) !== undefined;
  const hold = here && fieldsOf(here).every(isHeld) ? holdOf(holdable(fieldsOf(here)[0] ?? '')) : undefined;
  return {
    managed,
    isCopy,
    isOpen: (field) => isCopy || isHeld(field),
    ways: here && mayWrite && (
      <ManagedWays
        realm={realm}
        managed={here}
        things={fieldsOf(here)
          .filter((field) => !isHeld(field))
          .map(holdable)}
        write="settings:write"
        hold={hold}
        {...(isDeclaredOnly('realm') && { declaredOnly: 'the settings' })}
        isCopy={isCopy}
        onMode={(on) => {
          // edits go along to where they are declared; they do not come back from there
          if (!on) discard();
          filters.set({ [COPY_MODE.name]: on ? COPY_MODE.value : undefined });
        }}
        commands={async () => ({
          manifest: await asDeclared(
            clusterManager(here),
            await realmManifest(
              realm,
              resourceOf(Object.fromEntries(fieldsOf(here).map((field) => [field, before[field]]))),
            ),
          ),
        })}
      />
    ),
  };
}
/** The manager whose resource can be patched. */
const clusterManager = (managed: Managed): string =>
  [...managed.values()].find((manager) => clusterResource(manager)) ?? '';

export function SettingsDialogs({
  editing,
  title,
  of: { managed, isCopy, isOpen },
}: {
  editing: Editing;
  title: string;
  of: ManagedForm;
}) {
  const { realm, changes } = editing;
  const copy = async (stored: Row, changed: Row) => {
    const manager = clusterManager(managedOf(stored) ?? managed ?? new Map());
    return {
      changed: await asDeclared(manager, await realmManifest(realm, resourceOf(changed))),
      command: await commandOf(manager, resourceOf(changed)),
    };
  };
  return (
    <EditingDialogs
      editing={editing}
      title={title}
      document={documentOf(changes)}
      commands={async () => ({
        realmctl: documentCommand(realm, documentOf(changes)),
        curl: curlOf(putSettings, { realm }, changes),
        manifest: await realmManifest(realm, resourceOf(changes)),
      })}
      copy={copy}
      isCopy={isCopy && managed !== undefined}
      isOpen={isOpen}
    />
  );
}
