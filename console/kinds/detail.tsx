// An object on a page of its own: its fields in groups, the objects that belong to it, and what can be done with it.
import { type ComponentType, lazy, type ReactNode, Suspense, useState } from 'react';
import { useMay } from '../api/session.ts';
import type { PageProps } from '../pages/page.ts';
import { inRealm, realmAddress } from '../shell/addresses.ts';
import { AsCommand } from '../ui/as-command.tsx';
import { Badge } from '../ui/badge.tsx';
import { Button, ButtonLink, IconButton } from '../ui/button.tsx';
import { CopyButton } from '../ui/code.tsx';
import { Help } from '../ui/help.tsx';
import { ActionMenu } from '../ui/menu.tsx';
import { Facts, Page, Panel } from '../ui/page.tsx';
import { Loading, ProblemNote } from '../ui/state.tsx';
import { type Tab, Tabs } from '../ui/tabs.tsx';
import { kindInSection, ofItsClient, titleOf } from './all.ts';
import { FullValue, isNothing } from './cells.tsx';
import { objectCommands } from './commands.ts';
import { ordered } from './create.tsx';
import { DeclaredOnlyBadge, DeclaredOnlyNote, useDeclaredOnly, useLock } from './declared-only.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { type Field, formFields, grouped } from './fields.ts';
import { KindTable } from './list.tsx';
import { useKind, useObject } from './loaded.ts';
import { holdableOf, ManagedBadge, managedOf, useHolds } from './managed.tsx';
import { COPY_MODE, HeldBadge, HeldNote } from './managed-ways.tsx';
import { shortManager } from './managers.ts';
import { isById, NameOf } from './name-of.tsx';
import { clientKinds, isFormed, listAddress, nameOf, objectAddress } from './pages.tsx';
import { declaredFields, documentOf, secretsOf } from './plan.ts';
import { labelOf } from './words.ts';

const Delete = lazy(() => import('./delete.tsx'));

/** The parts that the page of one kind has besides the fields. */
export interface DetailExtras {
  badges?: (row: Row) => ReactNode;
  /** Before "Edit". */
  actions?: (row: Row) => ReactNode;
  /** Above the fields. */
  lead?: (row: Row) => ReactNode;
  /** Behind the tab of the fields. */
  tabs?: (row: Row) => readonly Tab[];
}

/** The page of one kind that has more than others. */
export function detailWith(
  section: string,
  useExtras: (of: { realm: string; key: string; entry: KindEntry }) => DetailExtras,
): ComponentType<PageProps> {
  const entry = kindInSection(section);
  if (!entry) throw new Error(`there is no kind ${section}`);
  return function DetailWith({ params }) {
    const extras = useExtras({ realm: params.realm, key: params.key ?? '', entry });
    return <KindDetail entry={entry} params={params} extras={extras} />;
  };
}

export function KindDetail({ entry, params, extras }: PageProps & { entry: KindEntry; extras?: DetailExtras }) {
  const { realm, key = '', clientId: of } = params;
  const may = useMay();
  const kind = useKind(entry);
  const object = useObject(entry, { realm, key, of });
  const [deletes, setDeletes] = useState(false);
  const last = object.data?.body;
  // deleted meanwhile: what was read last is no more
  const row = object.error?.status === 404 ? undefined : last;
  const name = last ? nameOf(entry, last) : object.error ? labelOf(entry.kind) : '…';
  const isBuiltIn = entry.builtIn !== undefined && row?.[entry.builtIn] === true;
  const mayWrite = entry.reach ? may.partly(realm, entry.write) : may(realm, entry.write);
  const holdOf = useHolds(realm, managedOf(row) !== undefined, !entry.ofClient);
  const thing = row ? holdableOf(entry, row) : { kind: entry.kind, key: '' };
  const form = isFormed(entry) && !isBuiltIn && row ? { form: `${objectAddress(realm, entry, row, of)}/edit` } : {};
  // an object of a client is held by a name that this page does not read
  const managedThing = entry.ofClient ? undefined : { ...thing, write: entry.write, ...form };
  const lock = useLock(realm, entry.section, thing);
  const hold = row && (holdOf(thing) ?? lock.hold);
  const own = clientKinds.filter(({ read }) => entry.section === 'clients' && may(realm, read));
  const tabs: readonly Tab[] = [
    ...own.map((inner) => ({
      id: inner.path,
      label: ofItsClient(inner).title,
      content: () => <Inner entry={inner} realm={realm} of={key} />,
    })),
    ...(row && extras?.tabs ? extras.tabs(row) : []),
  ];
  return (
    <Page
      title={name}
      badges={
        <>
          {row &&
            'enabled' in row &&
            (row.enabled ? <Badge tone="good">enabled</Badge> : <Badge tone="warn">disabled</Badge>)}
          {isBuiltIn && <Badge>built in</Badge>}
          {row && extras?.badges?.(row)}
          <ManagedBadge managed={managedOf(row)} realm={realm} thing={managedThing} />
          <DeclaredOnlyBadge lock={lock} />
          {hold && <HeldBadge hold={hold} />}
        </>
      }
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        ...(of === undefined ? [] : [{ label: 'Client', to: inRealm(realm, 'clients', of) }]),
        { label: titleOf(entry), to: listAddress(realm, entry, of) },
      ]}
      actions={
        row &&
        kind && (
          <>
            <AsCommand
              commands={() =>
                objectCommands(
                  entry,
                  { realm, key, of },
                  row,
                  documentOf(entry, kind, declaredFields(entry, kind, row)),
                )
              }
            />
            {extras?.actions?.(row)}
            {mayWrite && isFormed(entry) && !isBuiltIn && (
              <ButtonLink
                to={`${objectAddress(realm, entry, row, of)}/edit${lock.isLocked ? `?${COPY_MODE.name}=${COPY_MODE.value}` : ''}`}
                variant="primary"
                icon="edit"
              >
                {lock.isLocked ? 'Modify and copy' : 'Edit'}
              </ButtonLink>
            )}
            {may(realm, entry.write) && kind.routes.remove && !isBuiltIn && !lock.isLocked && (
              <ActionMenu
                label="More actions"
                actions={[
                  {
                    id: 'delete',
                    label: `Delete the ${entry.label}`,
                    icon: 'delete',
                    danger: true,
                    onAction: () => setDeletes(true),
                  },
                ]}
              >
                <IconButton label="More actions" icon="more" variant="quiet" />
              </ActionMenu>
            )}
          </>
        )
      }
    >
      {object.error && <ProblemNote problem={object.error} retry={() => void object.refetch()} />}
      {row && kind ? (
        <>
          {hold && (managedOf(row) || !lock.isDeclaredOnly) ? (
            <HeldNote hold={hold} realm={realm} isManaged={managedOf(row) !== undefined} />
          ) : (
            <DeclaredOnlyNote
              realm={realm}
              section={entry.section}
              kind={entry.kind}
              many={entry.many}
              write={entry.write}
              things={entry.ofClient ? [{ kind: entry.kind }] : [thing, { kind: entry.kind }]}
            />
          )}
          {extras?.lead?.(row)}
          {tabs.length > 0 ? (
            <Tabs
              label={name}
              tabs={[
                {
                  id: 'fields',
                  label: 'Settings',
                  content: () => <Fields entry={entry} kind={kind} realm={realm} row={row} />,
                },
                ...tabs,
              ]}
            />
          ) : (
            <Fields entry={entry} kind={kind} realm={realm} row={row} />
          )}
        </>
      ) : (
        !object.error && <Loading lines={8} />
      )}
      {deletes && row && (
        <Suspense>
          <Delete
            entry={entry}
            address={{ realm, key, of }}
            row={row}
            etag={object.data?.etag}
            onClose={() => setDeletes(false)}
          />
        </Suspense>
      )}
    </Page>
  );
}

function Inner({ entry, realm, of }: { entry: KindEntry; realm: string; of: string }) {
  const may = useMay();
  const isDeclaredOnly = useDeclaredOnly(realm)(entry.section);
  return (
    <div className="stack">
      {may(realm, entry.write) && (
        <div className="row end">
          <ButtonLink to={`${listAddress(realm, entry, of)}/new`} icon="add">
            {isDeclaredOnly ? 'Write a declaration' : `Create ${ofItsClient(entry).one}`}
          </ButtonLink>
        </div>
      )}
      <KindTable entry={entry} realm={realm} of={of} />
    </div>
  );
}

/** All fields: those of the form in its groups, then those that the server writes. */
function Fields({ entry, kind, realm, row }: { entry: KindEntry; kind: LoadedKind; realm: string; row: Row }) {
  const secrets = secretsOf(kind);
  const managed = managedOf(row);
  const [all, setAll] = useState(false);
  const fields = ordered(entry, formFields(kind.input, { names: kind.names, forms: entry.form?.fields, secrets }));
  const inForm = new Set(fields.map(({ name }) => name));
  const cells = new Map(entry.columns.map(({ field, cell }) => [field, cell]));
  const value = (field: Field) => {
    const { name, type } = field;
    const of = row[name];
    if (type.is === 'reference' && isById(field) && typeof of === 'string')
      return <NameOf realm={realm} kind={type.kind} id={of} />;
    return secrets.includes(name) ? (
      <Badge>{row[`${name}Set`] === true ? 'stored' : 'none'}</Badge>
    ) : (
      <FullValue field={name} cell={cells.get(name) ?? 'json'} value={of} is={type.is} />
    );
  };
  const answered = Object.keys(row).filter(
    (name) =>
      !inForm.has(name) &&
      name !== 'realmId' &&
      name !== 'managedBy' &&
      !secrets.some((secret) => name === `${secret}Set`),
  );
  const isUnset = (name: string) => isNothing(row[name]);
  const there = fields.filter(({ name }) => name in row);
  const unset = there.filter(({ name }) => isUnset(name) && !secrets.includes(name)).length;
  return (
    <div className="stack">
      {grouped(
        there.filter(({ name }) => all || !isUnset(name) || secrets.includes(name)),
        entry.form?.groups,
      ).map(({ title, help, fields: own }) => (
        <Panel key={title} title={title === '' ? 'Settings' : title} {...(help && { lead: help })} plain>
          <Facts
            facts={own.map((field) => ({
              name: field.label,
              help: (
                <>
                  {field.help && <Help text={field.help} />}
                  {managed?.has(field.name) && (
                    <span className="declared"> Declared by {shortManager(managed.get(field.name) ?? '')}.</span>
                  )}
                </>
              ),
              value: value(field),
            }))}
          />
        </Panel>
      ))}
      {unset > 0 && (
        <div>
          <Button variant="quiet" small className="flush" onPress={() => setAll(!all)}>
            {all
              ? 'Hide what is not set'
              : `Show ${unset} ${unset === 1 ? 'field that is' : 'fields that are'} not set`}
          </Button>
        </div>
      )}
      {answered.length > 0 && (
        <Panel title="Kept by the server" plain>
          <Facts
            facts={answered.map((name) => ({
              name: labelOf(name),
              value:
                name === 'id' ? (
                  <span className="row">
                    <code>{String(row.id)}</code>
                    <CopyButton text={String(row.id)} label="Copy the id" />
                  </span>
                ) : (
                  <FullValue
                    field={name}
                    cell={cells.get(name) ?? (/At$/.test(name) ? 'time' : 'json')}
                    value={row[name]}
                  />
                ),
            }))}
          />
        </Panel>
      )}
    </div>
  );
}
