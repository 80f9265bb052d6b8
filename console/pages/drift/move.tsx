// One manager's name takes over what another owns, in every realm: for a cluster that was rebuilt under another name. The dry run
// comes first.
import { type FormEvent, useId, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { moveManagers } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { realmctl } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

export function MoveDialog({ onClose }: { onClose: () => void }) {
  const form = useId();
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const look = useWrite(moveManagers);
  const move = useWrite(moveManagers);
  const body = { from: from.trim(), to: to.trim() };
  const found = look.data?.body;
  const faults = faultsOf(look.error);
  const edit = (set: (text: string) => void) => (text: string) => {
    set(text);
    look.reset();
    move.reset();
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!found) look.mutate({ query: { dryRun: 'true' }, body });
    else
      move.mutate(
        { query: {}, body },
        {
          onSuccess: () => {
            say(`${body.to} owns what ${body.from} owned.`);
            onClose();
          },
        },
      );
  };
  return (
    <Dialog
      title="Rename a manager"
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: realmctl('managers move', [body.from || 'k8s:old', body.to || 'k8s:new']),
              curl: curlOf(moveManagers, {}, body),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            type="submit"
            form={form}
            variant="primary"
            isDisabled={
              body.from === '' || body.to === '' || look.isPending || move.isPending || found?.managers.length === 0
            }
          >
            {found ? 'Rename in every realm' : 'Show what moves'}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <p className="soft">
          For a cluster that was rebuilt under another name. Objects, the history and permitted adoptions follow;
          nothing else in the realms changes.
        </p>
        {move.error && <ProblemNote problem={move.error} />}
        {look.error && <ProblemNote problem={look.error} quietFields />}
        <TextField
          label="From"
          help="A manager’s name, or its beginning up to a slash, such as k8s:old."
          value={from}
          onChange={edit(setFrom)}
          mono
          fault={faults.get('from') ?? faults.get('body.from')}
        />
        <TextField
          label="To"
          value={to}
          onChange={edit(setTo)}
          mono
          fault={faults.get('to') ?? faults.get('body.to')}
        />
        {found &&
          (found.managers.length === 0 ? (
            <Note tone="warn">No realm has anything of this name.</Note>
          ) : (
            <Note>
              <strong>What moves:</strong>
              <ul>
                {found.managers.map(({ realm, from: was, to: is, objects }) => (
                  <li key={`${realm} ${was}`}>
                    <bdi>{realm}</bdi>: {objects.toLocaleString('en')} of <code>{was}</code> to <code>{is}</code>
                  </li>
                ))}
              </ul>
            </Note>
          ))}
      </form>
    </Dialog>
  );
}
