// A new user: the profile, a password, groups, and what the user must do at the first sign-in.
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useWrite } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { createUser } from '../../generated/routes.ts';
import { curlOf, documentCommand } from '../../kinds/commands.ts';
import type { Row } from '../../kinds/entry.ts';
import { FaultNote, isOfFields } from '../../kinds/fault-note.tsx';
import { FormActions } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { ReferencesField } from '../../kinds/reference-field.tsx';
import { realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import type { PageProps } from '../page.ts';
import { ActionChoice } from './action-choice.tsx';
import { userAddress, usersAddress } from './addresses.ts';
import { PasswordFields } from './password-fields.tsx';
import { bodyOf, type UserField, valuesOf } from './profile-fields.ts';
import { UserFields, useUserFields } from './user-fields.tsx';
import type { RequiredAction } from './words.ts';

export default function CreateUser({ params: { realm } }: PageProps) {
  const fields = useUserFields(realm);
  return (
    <Page
      title="Create a user"
      narrow
      crumbs={[
        { label: realm, to: realmAddress(realm) },
        { label: 'Users', to: usersAddress(realm) },
      ]}
    >
      {fields ? <Form realm={realm} fields={fields} /> : <Loading lines={8} />}
    </Page>
  );
}

interface More {
  password: string;
  temporary: boolean;
  groups: string[];
  roles: string[];
  requiredActions: RequiredAction[];
}

function inputOf(fields: readonly UserField[], edits: Row, more: More): Row & { username: string } {
  const profile = bodyOf(fields, {}, edits);
  const { password, temporary, groups, roles, requiredActions } = more;
  return {
    ...Object.fromEntries(Object.entries(profile).filter(([, value]) => value !== null)),
    username: String(profile.username ?? ''),
    ...(password !== '' && { password, passwordTemporary: temporary }),
    ...(groups.length > 0 && { groups }),
    ...(roles.length > 0 && { roles }),
    ...(requiredActions.length > 0 && { requiredActions }),
  };
}

function missingIn(fields: readonly UserField[], values: Row, needsGroup: boolean): Map<string, string> {
  const isEmpty = (value: unknown) =>
    value === null || value === undefined || value === '' || (Array.isArray(value) && value.length === 0);
  const missing = fields
    .filter(({ name, required, isReadOnly }) => required && !isReadOnly && isEmpty(values[name]))
    .map(({ name, label }): [string, string] => [name, `${label} is needed.`]);
  return new Map([...missing, ...(needsGroup ? [['groups', 'Name a group that you administer.'] as const] : [])]);
}

function Form({ realm, fields }: { realm: string; fields: readonly UserField[] }) {
  const may = useMay();
  const isLimited = !may(realm, 'users:write');
  const [, navigate] = useLocation();
  const [edits, setEdits] = useState<Row>({});
  const [more, setMore] = useState<More>({
    password: '',
    temporary: true,
    groups: [],
    roles: [],
    requiredActions: [],
  });
  const [faults, setFaults] = useState<ReadonlyMap<string, string>>(new Map());
  const create = useWrite(createUser);
  // a username can be chosen once, whichever administrator creates the user
  const open = fields.map((field) => (field.name === 'username' ? { ...field, isReadOnly: false } : field));
  const values = { ...valuesOf(open, {}), ...edits };
  const body = inputOf(open, edits, more);
  const set = (changes: Partial<More>) => setMore((before) => ({ ...before, ...changes }));

  const submit = (event: FormEvent) => {
    event.preventDefault();
    const missing = missingIn(open, values, isLimited && more.groups.length === 0);
    setFaults(missing);
    create.reset();
    if (missing.size > 0) return;
    create.mutate(
      { params: { realm }, body },
      {
        onSuccess: (answer) => {
          say(`Created the user ${body.username}.`);
          navigate(answer.body ? userAddress(realm, answer.body.id) : usersAddress(realm));
        },
        onError: (problem) => {
          const found = faultsOf(problem);
          if (problem.is('name-taken') && found.size === 0) found.set('username', problem.message);
          setFaults(found);
        },
      },
    );
  };
  return (
    <form className="form" onSubmit={submit} noValidate>
      {faults.size > 0 && <FaultNote faults={faults} problem={create.error} />}
      {create.error && !isOfFields(create.error) && <ProblemNote problem={create.error} />}
      {isLimited && (
        <Note>Your admin roles are for single groups: the user joins one of these at least, and gets no roles.</Note>
      )}
      <Panel title="Profile" plain>
        <UserFields
          realm={realm}
          fields={open}
          values={values}
          faults={faults}
          onEdit={(name, value) => setEdits((before) => ({ ...before, [name]: value }))}
          isDisabled={false}
        />
      </Panel>
      <Panel title="Signing in" plain>
        <div className="form-group">
          <PasswordFields
            label="Password"
            password={more.password}
            temporary={more.temporary}
            fault={faults.get('password')}
            onChange={set}
          />
          {more.password === '' && (
            <p className="hint">
              Without a password the user signs in by another way, such as an identity provider or a set-up link, which
              you make on the user’s page.
            </p>
          )}
          <ActionChoice
            value={more.requiredActions}
            onChange={(requiredActions) => set({ requiredActions })}
            fault={faults.get('requiredActions')}
          />
        </div>
      </Panel>
      <Panel title="Membership" plain>
        <div className="form-group">
          <ReferencesField
            realm={realm}
            kind="group"
            label="Groups"
            value={more.groups}
            onChange={(groups) => set({ groups })}
            fault={faults.get('groups')}
            required={isLimited}
          />
          {!isLimited && (
            <ReferencesField
              realm={realm}
              kind="role"
              label="Realm roles"
              value={more.roles}
              onChange={(roles) => set({ roles })}
              fault={faults.get('roles')}
            />
          )}
        </div>
      </Panel>
      <FormActions
        cancel={usersAddress(realm)}
        submit="Create"
        busy={create.isPending}
        more={
          <AsCommand
            commands={() => {
              const { password: _, passwordTemporary: __, ...user } = body;
              return {
                ...(!isLimited && { realmctl: documentCommand(realm, { users: [user] }) }),
                curl: curlOf(createUser, { realm }, { ...body, ...(more.password && { password: '<password>' }) }),
              };
            }}
          />
        }
      />
    </form>
  );
}
