// A realm's branding: name, logo, colours with their contrast, a welcome, and CSS of its own, beside a sketch of the page.
import { type FormEvent, lazy, Suspense, useMemo, useState } from 'react';
import { SettingsInput } from '../../../server/contract/settings.ts';
import { settingsForm } from '../../../server/contract/settings-form.ts';
import { type ConsoleAnswer, call, type OutputOf } from '../../api/client.ts';
import { useRead, useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getEndpoints, getSettings, putSettings } from '../../generated/routes.ts';
import { curlOf, documentCommand, realmManifest } from '../../kinds/commands.ts';
import { contractFaults, FaultNote } from '../../kinds/create.tsx';
import type { Row } from '../../kinds/entry.ts';
import { formFields, grouped } from '../../kinds/fields.ts';
import { changedFields, FormFields } from '../../kinds/form.tsx';
import { managedOf } from '../../kinds/managed.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { Review } from '../../kinds/review.tsx';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { contrast, isHex, paletteOf, type Scheme } from './colours.ts';
import { LookPage } from './frame.tsx';
import { Sketch } from './sketch.tsx';
import { ViewBar } from './views.tsx';

const Merge = lazy(() => import('../../kinds/merge.tsx'));
type Settings = OutputOf<typeof getSettings>;

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
  const settings = useRead(getSettings, { params: { realm } }, { enabled: mayRead });
  return (
    <LookPage
      realm={realm}
      at=""
      actions={
        <AsCommand
          commands={() => ({
            realmctl: `realmctl export ${realm} --no-users -o yaml`,
            curl: curlOf(getSettings, { realm }),
          })}
        />
      }
    >
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

function Form({ realm, read }: { realm: string; read: ConsoleAnswer<Settings> }) {
  const may = useMay();
  const mayWrite = may(realm, 'settings:write');
  // a refetch in the background must not change what the reader began with
  const [base, setBase] = useState(read);
  const [edits, setEdits] = useState<Row>({});
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [isReviewed, setReviewed] = useState(false);
  const [theirs, setTheirs] = useState<ConsoleAnswer<Settings>>();
  const save = useWrite(putSettings);
  const groups = useMemo(
    () =>
      grouped(
        formFields(SettingsInput, { forms: settingsForm.fields }).filter(({ name }) => FIELDS.has(name)),
        GROUPS,
      ),
    [],
  );
  const before: Row = { ...base.body };
  const now: Row = { ...before, ...edits };
  const changes = changedFields(before, edits);
  const count = Object.keys(changes).length;

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(SettingsInput, changes);
    setFaults(found);
    save.reset();
    if (found.size === 0) setReviewed(true);
  };
  const write = () =>
    save.mutate(
      { params: { realm }, body: changes, ...(base.etag !== undefined && { headers: { 'if-match': base.etag } }) },
      {
        onSuccess: (answer) => {
          setBase(answer);
          setEdits({});
          setReviewed(false);
          say('Saved the branding.');
        },
        onError: (problem) => {
          if (problem.is('precondition-failed')) {
            setReviewed(false);
            void call(getSettings, { params: { realm } }).then(setTheirs);
            return;
          }
          setFaults(faultsOf(problem));
          if (problem.problem?.errors) setReviewed(false);
        },
      },
    );
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} />}
      {save.error && !isReviewed && !theirs && <ProblemNote problem={save.error} quietFields />}
      {!mayWrite && <Note>You may read the branding. Changing it needs the permission settings:write.</Note>}
      <div className="beside">
        <div className="form">
          <FormFields
            realm={realm}
            groups={groups}
            before={before}
            edits={edits}
            onEdit={(name, value) => setEdits((of) => ({ ...of, [name]: value }))}
            faults={faults}
            isDisabled={!mayWrite}
            managed={managedOf(before)}
          />
        </div>
        <Preview realm={realm} now={now} isChanged={count > 0} />
      </div>
      {mayWrite && (
        <div className="form-actions">
          <span className="said" role="status">
            {count === 0
              ? 'Nothing is changed yet.'
              : `${count} ${count === 1 ? 'setting is' : 'settings are'} changed.`}
          </span>
          {count > 0 && <Button onPress={() => setEdits({})}>Discard</Button>}
          <Button type="submit" variant="primary" isDisabled={count === 0}>
            Review and save
          </Button>
        </div>
      )}
      {isReviewed && (
        <Review
          title="Save the branding"
          realm={realm}
          document={{ realm: changes }}
          changes={changes}
          before={before}
          save="Save"
          onSave={write}
          onClose={() => setReviewed(false)}
          isSaving={save.isPending}
          problem={save.error}
          commands={async () => ({
            realmctl: documentCommand(realm, { realm: changes }),
            curl: curlOf(putSettings, { realm }, changes),
            manifest: await realmManifest(realm, { settings: changes }),
          })}
        />
      )}
      {theirs?.body && (
        <Suspense>
          <Merge
            fields={groups.flatMap(({ fields }) => fields)}
            base={before}
            mine={edits}
            theirs={{ ...theirs.body }}
            onClose={() => setTheirs(undefined)}
            onMerged={(merged) => {
              setBase(theirs);
              setEdits(merged);
              setTheirs(undefined);
              save.reset();
              setReviewed(true);
            }}
          />
        </Suspense>
      )}
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

/** What the pages make of the colours. */
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
