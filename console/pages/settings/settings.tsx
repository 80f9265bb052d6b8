// A realm's settings: one form in groups, of which the address names the one that is shown. Edits in several groups are saved
// together, after the server's plan.
import { useEffect, useMemo } from 'react';
import { Link, useSearchParams } from 'wouter';
import type { ConsoleAnswer } from '../../api/client.ts';
import { useMay } from '../../api/session.ts';
import { EditingActions, EditingFaults } from '../../kinds/editing.tsx';
import type { Row } from '../../kinds/entry.ts';
import { FormFields } from '../../kinds/form.tsx';
import { realmAddress } from '../../shell/addresses.ts';
import { useFilters } from '../../ui/filters.ts';
import { Page } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import { SettingsCommands, SettingsDialogs, useManagedSettings, useSettings, useSettingsEditing } from './editing.tsx';
import { partOf, settingGroups } from './groups.ts';

export default function SettingsPage({ params: { realm } }: PageProps) {
  const settings = useSettings(realm);
  return (
    <Page
      title="Settings"
      crumbs={[{ label: realm, to: realmAddress(realm) }]}
      actions={<SettingsCommands realm={realm} settings={settings.data?.body} />}
    >
      {settings.error && <ProblemNote problem={settings.error} retry={() => void settings.refetch()} />}
      {settings.data?.body ? <Form realm={realm} read={settings.data} /> : !settings.error && <Loading lines={8} />}
    </Page>
  );
}

/** A dialog that closes, and the page's heading, take the focus first. */
const AFTER_DIALOGS_MS = 120;
const CONTROLS = 'input, textarea, select, button';

/** Leads to the setting that the address names, as the palette's results do. */
function useNamedField(name: string): void {
  useEffect(() => {
    if (name === '') return;
    const timer = setTimeout(() => {
      const field = document.querySelector<HTMLElement>(`main [data-field="${CSS.escape(name)}"]`);
      if (!field) return;
      const control = [...field.querySelectorAll<HTMLElement>(CONTROLS)].find((one) => !one.matches(':disabled'));
      // one that the reader may not change
      if (!control) field.tabIndex = -1;
      (control ?? field).focus({ preventScroll: true });
      field.scrollIntoView({ block: 'center' });
    }, AFTER_DIALOGS_MS);
    return () => clearTimeout(timer);
  }, [name]);
}

function Form({ realm, read }: { realm: string; read: ConsoleAnswer<Row> }) {
  const may = useMay();
  const mayWrite = may(realm, 'settings:write');
  const [search] = useSearchParams();
  const filters = useFilters();
  const groups = useMemo(settingGroups, []);
  const field = search.get('field') ?? '';
  const shown =
    groups.find((group) => partOf(group) === search.get('group')) ??
    groups.find(({ fields }) => fields.some(({ name }) => name === field)) ??
    groups[0];
  const editing = useSettingsEditing(realm, read, groups, 'the settings');
  const { before, edits, changes, faults } = editing;
  const managed = useManagedSettings(editing, shown ? [shown] : [], mayWrite);
  const faultyGroups = groups.filter(({ fields }) =>
    fields.some(({ name }) => [...faults.keys()].some((at) => at.split(/[.[]/)[0] === name)),
  );
  const changedGroups = groups.filter(({ fields }) => fields.some(({ name }) => name in changes));
  useNamedField(field);
  if (!shown) return null;
  return (
    <form className="settings" onSubmit={editing.submit} noValidate>
      <nav aria-label="Groups of settings">
        <ul>
          {groups.map((group) => (
            <li key={group.title}>
              <Link
                href={filters.address({ group: partOf(group), field: undefined })}
                aria-current={group === shown ? 'true' : undefined}
              >
                {group.title}
                {faultyGroups.includes(group) ? ' (to correct)' : changedGroups.includes(group) ? ' •' : ''}
              </Link>
            </li>
          ))}
        </ul>
      </nav>
      <div className="form">
        <EditingFaults editing={editing} />
        {!mayWrite && <Note>You may read the settings. Changing them needs the permission settings:write.</Note>}
        {managed.ways}
        <FormFields
          realm={realm}
          groups={[shown]}
          before={before}
          edits={edits}
          onEdit={editing.edit}
          faults={faults}
          isDisabled={!mayWrite}
          managed={managed.managed}
          isOpen={managed.isOpen}
          key={`${shown.title} ${editing.round}`}
        />
        {mayWrite && <EditingActions editing={editing} one="setting" isCopy={managed.isCopy} />}
      </div>
      <SettingsDialogs editing={editing} title="Save the settings" of={managed} />
    </form>
  );
}
