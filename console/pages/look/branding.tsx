// A realm's branding: name, logo, colours with their contrast, a welcome, and CSS of its own, beside a sketch of the page.
import { useMemo } from 'react';
import { SettingsInput } from '../../../server/contract/settings.ts';
import { settingsForm } from '../../../server/contract/settings-form.ts';
import type { ConsoleAnswer } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints } from '../../generated/routes.ts';
import { EditingActions, EditingFaults } from '../../kinds/editing.tsx';
import type { Row } from '../../kinds/entry.ts';
import { formFields, grouped } from '../../kinds/fields.ts';
import { FormFields } from '../../kinds/form.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import type { PageProps } from '../page.ts';
import {
  SettingsCommands,
  SettingsDialogs,
  useManagedSettings,
  useSettings,
  useSettingsEditing,
} from '../settings/editing.tsx';
import { contrast, isHex, paletteOf, type Scheme } from './colours.ts';
import { LookPage } from './frame.tsx';
import { Sketch } from './sketch.tsx';
import { ViewBar } from './views.tsx';

const GROUPS = [
  { title: 'Name and logo', fields: ['displayName', 'logoUrl', 'welcomeText'] },
  { title: 'Colours', fields: ['primaryColor', 'backgroundColor'] },
  { title: 'Style sheet', fields: ['customCss'] },
] as const;
const FIELDS: ReadonlySet<string> = new Set(GROUPS.flatMap(({ fields }) => fields));
const textIn = (row: Row, name: string): string | null => {
  const value = row[name];
  return typeof value === 'string' && value !== '' ? value : null;
};

export default function Branding({ params: { realm } }: PageProps) {
  const may = useMay();
  const mayRead = may(realm, 'settings:read');
  const settings = useSettings(realm, mayRead);
  return (
    <LookPage realm={realm} at="" actions={<SettingsCommands realm={realm} />}>
      {!mayRead && <Note>The branding is part of the settings; reading them needs the permission settings:read.</Note>}
      {settings.error && <ProblemNote problem={settings.error} retry={() => void settings.refetch()} />}
      {settings.data?.body ? (
        <Form realm={realm} read={settings.data} />
      ) : (
        mayRead && !settings.error && <Loading lines={8} />
      )}
    </LookPage>
  );
}

function Form({ realm, read }: { realm: string; read: ConsoleAnswer<Row> }) {
  const may = useMay();
  const mayWrite = may(realm, 'settings:write');
  const groups = useMemo(
    () =>
      grouped(
        formFields(SettingsInput, { forms: settingsForm.fields }).filter(({ name }) => FIELDS.has(name)),
        GROUPS,
      ),
    [],
  );
  const editing = useSettingsEditing(realm, read, groups, 'the branding');
  const managed = useManagedSettings(editing, groups, mayWrite);
  const { before, edits, changes } = editing;
  return (
    <form className="form" onSubmit={editing.submit} noValidate>
      <EditingFaults editing={editing} />
      {!mayWrite && <Note>You may read the branding. Changing it needs the permission settings:write.</Note>}
      {managed.ways}
      <div className="beside">
        <div className="form">
          <FormFields
            key={editing.round}
            realm={realm}
            groups={groups}
            before={before}
            edits={edits}
            onEdit={editing.edit}
            faults={editing.faults}
            isDisabled={!mayWrite}
            managed={managed.managed}
            isOpen={managed.isOpen}
          />
        </div>
        <Preview realm={realm} now={{ ...before, ...edits }} isChanged={Object.keys(changes).length > 0} />
      </div>
      {mayWrite && <EditingActions editing={editing} one="setting" isCopy={managed.isCopy} />}
      <SettingsDialogs editing={editing} title="Save the branding" of={managed} />
    </form>
  );
}

function Preview({ realm, now, isChanged }: { realm: string; now: Row; isChanged: boolean }) {
  const may = useMay();
  const endpoints = useRead(getEndpoints, { params: { realm } }, { enabled: may(realm, 'realm:read') });
  const account = endpoints.data?.body?.account;
  const brand = {
    name: textIn(now, 'displayName') ?? realm,
    primaryColor: textIn(now, 'primaryColor'),
    backgroundColor: textIn(now, 'backgroundColor'),
    welcomeText: textIn(now, 'welcomeText'),
    hasLogo: textIn(now, 'logoUrl') !== null,
  };
  return (
    <div className="beside-fixed">
      <Panel title="Sketch" lead="The colours as they are here, saved or not." plain>
        <div className="preview">
          <ViewBar />
          <Sketch brand={brand} />
          <Contrasts primary={brand.primaryColor} background={brand.backgroundColor} />
          {account !== undefined && (
            <p className="small">
              <a href={account} target="_blank" rel="noreferrer">
                Open the real pages
                <span className="visually-hidden"> (a new window)</span>
              </a>{' '}
              <span className="soft">
                {isChanged ? 'They show what is saved.' : 'With the logo and the style sheet.'}
              </span>
            </p>
          )}
        </div>
      </Panel>
    </div>
  );
}

const READABLE = 4.5;
const round = (ratio: number): string => `${ratio.toFixed(1)} : 1`;

/** The contrast of the colours on the pages. */
function Contrasts({ primary, background }: { primary: string | null; background: string | null }) {
  if ((primary !== null && !isHex(primary)) || (background !== null && !isHex(background)))
    return (
      <Note tone="warn">A colour is written as #1a2b3c. Until it is one, the sketch shows the product’s own.</Note>
    );
  return (
    <ul className="contrasts">
      {(['light', 'dark'] as const).map((scheme) => (
        <Contrast key={scheme} scheme={scheme} primary={primary} background={background} />
      ))}
    </ul>
  );
}

function Contrast({
  scheme,
  primary,
  background,
}: {
  scheme: Scheme;
  primary: string | null;
  background: string | null;
}) {
  const { card, link, onPrimary, primary: own } = paletteOf(scheme, primary, background);
  const given = contrast(own, card);
  const isKept = link === own;
  return (
    <li>
      <span className="swatch" style={{ background: card, color: link }} aria-hidden="true">
        Aa
      </span>
      <span>
        {scheme === 'light' ? 'Light' : 'Dark'}: links {round(contrast(link, card))}, the button’s text{' '}
        {round(contrast(onPrimary, own))}.
        {!isKept && (
          <span className="soft">
            {' '}
            Your colour has {round(given)}, less than {READABLE}, so links are written in <code>{link}</code>.
          </span>
        )}
      </span>
    </li>
  );
}
