// A new realm: its name, which stays, and what people see.
import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useWrite } from '../../api/queries.ts';
import { createRealm } from '../../generated/routes.ts';
import { curlOf, realmManifest } from '../../kinds/commands.ts';
import { type Faults, useFaultFocus } from '../../kinds/fault-note.tsx';
import { FormActions } from '../../kinds/form.tsx';
import { faultsOf } from '../../kinds/plan.ts';
import { word } from '../../kinds/shell-words.ts';
import { isRealmName, realmAddress } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Page, Panel } from '../../ui/page.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

const LABEL = 'must be a DNS label: a-z, 0-9 and - inside, at most 63 characters';

export default function CreateRealm() {
  const [realm, setRealm] = useState('');
  const [displayName, setDisplayName] = useState('');
  const [faults, setFaults] = useState<Faults>(new Map());
  const [, navigate] = useLocation();
  const client = useQueryClient();
  const create = useWrite(createRealm);
  useFaultFocus(faults);
  const body = { realm, ...(displayName !== '' && { displayName }) };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setFaults(isRealmName(realm) ? new Map() : new Map([['realm', LABEL]]));
    create.reset();
    if (!isRealmName(realm)) return;
    create.mutate(
      { body },
      {
        onSuccess: async () => {
          await client.invalidateQueries();
          say(`Created the realm ${realm}.`);
          navigate(realmAddress(realm));
        },
        onError: (problem) => {
          const found = faultsOf(problem);
          if (problem.is('name-taken') && found.size === 0) found.set('realm', problem.message);
          setFaults(found);
        },
      },
    );
  };
  return (
    <Page
      title="Create a realm"
      lead="It begins with keys, a sign-in flow, the built-in admin roles and one template for each message."
      narrow
      crumbs={[{ label: 'Realms', to: '/realms' }]}
      actions={
        <AsCommand
          commands={async () => ({
            realmctl: `realmctl create realm ${word(realm || 'NAME')}`,
            curl: curlOf(createRealm, {}, body),
            manifest: await realmManifest(realm || 'name', displayName === '' ? {} : { settings: { displayName } }),
          })}
        />
      }
    >
      <form className="form" onSubmit={submit} noValidate>
        {create.error && faults.size === 0 && <ProblemNote problem={create.error} />}
        <Panel plain>
          <div className="form-group">
            <TextField
              label="Name"
              help="It is part of every address of the realm, and stays as it is."
              value={realm}
              onChange={(text) => setRealm(text.toLowerCase())}
              fault={faults.get('realm')}
              mono
              required
              autoFocus
            />
            <TextField
              label="Display name"
              help="What people see as they sign in. Left out, it is the name."
              value={displayName}
              onChange={setDisplayName}
              fault={faults.get('displayName')}
              most={200}
            />
          </div>
        </Panel>
        <FormActions cancel="/realms" submit="Create the realm" busy={create.isPending} />
      </form>
    </Page>
  );
}
