// Creating an object: the fields of its kind with the values that a new one has, then the server's plan, then the write.
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, lazy, Suspense, useMemo, useState } from 'react';
import { useLocation } from 'wouter';
import { call, type ServerProblem } from '../api/client.ts';
import { readAnew } from '../api/queries.ts';
import type { PageProps } from '../pages/page.ts';
import { inRealm, realmAddress } from '../shell/addresses.ts';
import { Page } from '../ui/page.tsx';
import { Loading, ProblemNote } from '../ui/state.tsx';
import { say } from '../ui/toast.tsx';
import { leadOf, titleOf } from './all.ts';
import { applicable, withoutOthers } from './applicable.ts';
import { createCommands } from './commands.ts';
import { copyOfNew } from './copied.ts';
import { DeclaredOnlyNote, useLock } from './declared-only.tsx';
import type { KindEntry, LoadedKind, Row } from './entry.ts';
import { FaultNote, isOfFields } from './fault-note.tsx';
import { formFields, grouped } from './fields.ts';
import { FormActions, FormFields } from './form.tsx';
import { useKind, useObject } from './loaded.ts';
import { holdableOf } from './managed.tsx';
import { CLIENTS, listAddress, objectAddress } from './pages.tsx';
import { documentOf, faultsOf, keyOf, nameIn, secretsOf } from './plan.ts';
import { Review } from './review.tsx';

const Copy = lazy(async () => ({ default: (await import('./modify-and-copy.tsx')).CopyDialog }));

type CreateProps = PageProps & { entry: KindEntry };

export function CreatePage(props: CreateProps) {
  const { entry, params } = props;
  const kind = useKind(entry);
  const { realm, clientId } = params;
  return (
    <Page
      title={`Create ${entry.one}`}
      lead={leadOf(entry)}
      narrow
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        ...(clientId === undefined ? [] : [{ label: 'Client', to: inRealm(realm, 'clients', clientId) }]),
        { label: titleOf(entry), to: listAddress(realm, entry, clientId) },
      ]}
    >
      {kind ? <CreateForm {...props} kind={kind} /> : <Loading lines={8} />}
    </Page>
  );
}

/** The faults that the contract finds, by field. */
export function contractFaults(schema: LoadedKind['input'], body: Row): Map<string, string> {
  const parsed = schema.safeParse(body);
  const faults = new Map<string, string>();
  for (const { path, message } of parsed.error?.issues ?? []) {
    const at = path
      .map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`))
      .join('')
      .replace(/^\./, '');
    if (!faults.has(at)) faults.set(at, message);
  }
  return faults;
}

/** The clientId of the client that the object belongs to; its plan names it. */
function useOwner({ entry, params }: CreateProps): string | undefined {
  const { realm, clientId } = params;
  const owner = useObject(CLIENTS ?? entry, { realm, key: clientId ?? '' }, entry.ofClient === true);
  return entry.ofClient ? String(owner.data?.body?.clientId ?? '') || undefined : undefined;
}

function CreateForm({ entry, params, kind }: CreateProps & { kind: LoadedKind }) {
  const { realm, clientId } = params;
  const [, navigate] = useLocation();
  const owner = useOwner({ entry, params });
  const [edits, setEdits] = useState<Row>({});
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const [review, setReview] = useState(false);
  const before: Row = { ...kind.fresh };
  const all = useMemo(
    () =>
      grouped(
        ordered(
          entry,
          formFields(kind.input, { names: kind.names, forms: entry.form?.fields, secrets: secretsOf(kind) }),
        ),
        entry.form?.groups,
      ),
    [entry, kind],
  );
  const thing = holdableOf(entry, { ...before, ...edits }, owner);
  const lock = useLock(realm, entry.section, thing);
  const hasKey = [entry.key].flat().every((field) => String(edits[field] ?? '') !== '');
  const groups = applicable(kind.applies, { ...before, ...edits }, all);
  const body = Object.fromEntries(Object.entries(edits).filter(([, value]) => value !== undefined));
  const route = kind.routes.create ?? kind.routes.upsert;
  const create = useMutation<Row, ServerProblem>({
    mutationFn: async () => {
      if (!route) throw new Error(`${entry.many} can’t be created here`);
      const made = await call(route, { params: { realm, ...(clientId !== undefined && { clientId }) }, body });
      return made.body as Row;
    },
    onSuccess: async (row) => {
      await readAnew(realm);
      say(`Created the ${entry.label}.`);
      navigate(objectAddress(realm, entry, row, clientId));
    },
    onError: (problem) => {
      setFaults(faultsOf(problem));
      if (problem.problem?.errors) setReview(false);
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const found = contractFaults(kind.input, body);
    setFaults(found);
    if (found.size === 0) {
      create.reset();
      setReview(true);
    }
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} problem={create.error} />}
      <DeclaredOnlyNote
        realm={realm}
        section={entry.section}
        kind={entry.kind}
        many={entry.many}
        write={entry.write}
        things={hasKey ? [thing, { kind: entry.kind }] : [{ kind: entry.kind }]}
      />
      {create.error && !review && !isOfFields(create.error) && <ProblemNote problem={create.error} />}
      <FormFields
        realm={realm}
        groups={groups}
        before={before}
        edits={edits}
        onEdit={(name, value) => setEdits((now) => withoutOthers(kind.applies, before, { ...now, [name]: value }))}
        faults={faults}
      />
      <FormActions
        cancel={listAddress(realm, entry, clientId)}
        submit={lock.isLocked ? 'Show the declaration' : 'Review and create'}
        said={
          lock.isLocked
            ? 'The next step shows the declaration. Nothing is saved here.'
            : 'The next step shows the server’s plan.'
        }
      />
      {review && lock.isLocked && (
        <Suspense>
          <Copy make={() => copyOfNew(entry, kind, { realm, owner }, body)} onClose={() => setReview(false)} />
        </Suspense>
      )}
      {review && !lock.isLocked && (
        <Review
          title={`Create ${entry.one}`}
          realm={realm}
          document={documentOf(entry, kind, body, owner)}
          changes={body}
          before={{}}
          save="Create"
          one={{ name: nameIn(entry, body), isNew: kind.routes.create !== undefined, key: keyOf(entry) }}
          onFaults={(found) => {
            setFaults(found);
            setReview(false);
          }}
          onSave={() => create.mutate()}
          onClose={() => setReview(false)}
          isSaving={create.isPending}
          problem={create.error}
          commands={() => createCommands(entry, realm, clientId, body, documentOf(entry, kind, body, owner))}
        />
      )}
    </form>
  );
}

/** The key first, then what a new object must have. */
export function ordered<T extends { name: string; required: boolean }>(entry: KindEntry, fields: readonly T[]): T[] {
  const keys = [entry.key].flat();
  const rank = ({ name, required }: T) => (keys.includes(name) ? 0 : required ? 1 : 2);
  return [...fields].sort((one, other) => rank(one) - rank(other));
}
