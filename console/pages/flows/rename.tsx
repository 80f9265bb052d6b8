// Renaming a flow. What names it follows by itself.
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { useWrite } from '../../api/queries.ts';
import { renameFlow } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

export function Rename({
  realm,
  alias,
  etag,
  onClose,
}: {
  realm: string;
  alias: string;
  etag: string | undefined;
  onClose: () => void;
}) {
  const [name, setName] = useState(alias);
  const [, navigate] = useLocation();
  const rename = useWrite(renameFlow);
  const faults = faultsOf(rename.error);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    rename.mutate(
      {
        params: { realm, alias },
        body: { alias: name },
        ...(etag !== undefined && { headers: { 'if-match': etag } }),
      },
      {
        onSuccess: () => {
          onClose();
          navigate(inRealm(realm, 'flows', name));
          say(`Renamed the flow to ${name}.`);
        },
      },
    );
  };
  return (
    <Dialog title={`Rename ${alias}`} isOpen onClose={onClose}>
      <form className="stack" onSubmit={submit} noValidate>
        {rename.error && <ProblemNote problem={rename.error} quietFields />}
        <TextField
          label="Name of the flow"
          help="The realm, applications and providers that name it follow."
          value={name}
          onChange={setName}
          most={255}
          autoFocus
          fault={faults.get('alias')}
        />
        <div className="row end">
          <AsCommand quiet commands={() => requestCommands(renameFlow, { realm, alias }, { alias: name })} />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isDisabled={name === '' || name === alias || rename.isPending}>
            {rename.isPending ? 'Renaming…' : 'Rename'}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
