// A realm's branding: name, logo, colours with their contrast, a welcome, and CSS of its own, beside the pages as they would be.
import { useMemo } from 'react';
import type { PagePreviewInput } from '../../../server/contract/page-preview.ts';
import { SettingsInput } from '../../../server/contract/settings.ts';
import { settingsForm } from '../../../server/contract/settings-form.ts';
import type { ConsoleAnswer } from '../../api/client.ts';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints } from '../../generated/routes.ts';
import { contractFaults } from '../../kinds/create.tsx';
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
import { PagePreview } from './page-preview.tsx';
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
    <LookPage realm={realm} at="" actions={<SettingsCommands realm={realm} settings={settings.data?.body} />}>
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
  const primary = textIn(now, 'primaryColor');
  const background = textIn(now, 'backgroundColor');
  const isRendered = may(realm, 'settings:write');
  return (
    <div className="beside-fixed">
      <Panel
        title={isRendered ? 'The pages' : 'Sketch'}
        lead={
          isRendered
            ? 'As the server renders them with what is in the form, saved or not. Nothing in them can be pressed.'
            : 'The colours as they are here. The real pages need the permission settings:write.'
        }
        plain
      >
        {isRendered ? (
          <PagePreview realm={realm} unsaved={{ branding: brandingOf(now) }} locales={localesIn(now)} />
        ) : (
          <div className="preview">
            <ViewBar />
            <Sketch
              brand={{
                name: textIn(now, 'displayName') ?? realm,
                primaryColor: primary,
                backgroundColor: background,
                welcomeText: textIn(now, 'welcomeText'),
                hasLogo: textIn(now, 'logoUrl') !== null,
              }}
            />
          </div>
        )}
        <div className="preview">
          <Contrasts primary={primary} background={background} />
          {account !== undefined && (
            <p className="small">
              <a href={account} target="_blank" rel="noreferrer">
                Open the real pages
                <span className="visually-hidden"> (a new window)</span>
              </a>{' '}
              <span className="soft">{isChanged && 'They show what is saved.'}</span>
            </p>
          )}
        </div>
      </Panel>
    </div>
  );
}

/** The branding for a preview: a value that could not be saved is left out, so that the page stays. */
function brandingOf(now: Row): NonNullable<PagePreviewInput['branding']> {
  const given = Object.fromEntries([...FIELDS].map((name) => [name, now[name]]));
  const faulty = new Set([...contractFaults(SettingsInput, given).keys()].map((at) => at.split(/[.[]/)[0]));
  return Object.fromEntries(Object.entries(given).filter(([name]) => !faulty.has(name)));
}
const localesIn = ({ defaultLocale, supportedLocales }: Row): string[] => [
  ...new Set([String(defaultLocale ?? 'en'), ...(Array.isArray(supportedLocales) ? supportedLocales.map(String) : [])]),
];

const READABLE = 4.5;
const round = (ratio: number): string => `${ratio.toFixed(1)} : 1`;

/** The contrast of the colours on the pages. */
function Contrasts({ primary, background }: { primary: string | null; background: string | null }) {
  if ((primary !== null && !isHex(primary)) || (background !== null && !isHex(background)))
    return <Note tone="warn">A colour is written as #1a2b3c. Until it is one, the pages show the stored one.</Note>;
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
