// Sets a user's password.
import { type FormEvent, useId, useState } from 'react';
import { useWrite } from '../../api/queries.ts';
import { setPassword } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { faultsOf } from '../../kinds/plan.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { PasswordFields } from './password-fields.tsx';
import type { User } from './words.ts';

export function PasswordDialog({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const form = useId();
  const [password, change] = useState('');
  const [temporary, setTemporary] = useState(true);
  const set = useWrite(setPassword);
  const params = { realm, userId: user.id };
  const fault = set.error ? [...faultsOf(set.error).values()][0] : undefined;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (password === '') return;
    set.mutate(
      { params, body: { password, temporary } },
      {
        onSuccess: () => {
          say('Set the password and ended all sessions.');
          onClose();
        },
      },
    );
  };
  return (
    <Dialog
      title={`Reset the password of ${user.username}`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: realmctl(
                'users reset-password',
                [user.username],
                `-r ${word(realm)}`,
                '--generate',
                ...(temporary ? [] : ['--permanent']),
              ),
              curl: curlOf(setPassword, params, { password: '<password>', temporary }),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" isDisabled={password === '' || set.isPending}>
            {set.isPending ? 'Setting…' : 'Set the password'}
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <Note>All sessions and tokens of the user end. Tell the user the password by a way that you trust.</Note>
        <PasswordFields
          label="New password"
          autoFocus
          password={password}
          temporary={temporary}
          fault={fault}
          onChange={(changes) => {
            if (changes.password !== undefined) change(changes.password);
            if (changes.temporary !== undefined) setTemporary(changes.temporary);
          }}
        />
        {set.error && fault === undefined && <ProblemNote problem={set.error} />}
      </form>
    </Dialog>
  );
}
