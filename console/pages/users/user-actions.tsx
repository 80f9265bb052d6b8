// The actions on a user as a whole, in the head of the user's page.
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { AnyRoute, InputOf, ServerProblem } from '../../api/client.ts';
import { call } from '../../api/client.ts';
import { readAnew } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { deleteLockout, deleteUser, eraseUser, mailPasswordReset, putUser } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { ConfirmWrite } from '../../kinds/confirm-write.tsx';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { inRealm } from '../../shell/addresses.ts';
import { Button, IconButton } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { TextField } from '../../ui/fields.tsx';
import { type Action, ActionMenu } from '../../ui/menu.tsx';
import { say } from '../../ui/toast.tsx';
import { usersAddress } from './addresses.ts';
import { Impersonate } from './impersonate.tsx';
import { LinkDialog } from './link-dialog.tsx';
import { PasswordDialog } from './password-dialog.tsx';
import type { User } from './words.ts';

type Asked = 'password' | 'reset-mail' | 'link' | 'enabled' | 'unlock' | 'impersonate' | 'delete' | 'erase';

interface Props {
  realm: string;
  user: User;
  etag: string | undefined;
  isLocked: boolean;
}

export function UserActions(props: Props) {
  const { realm, user, isLocked } = props;
  const may = useMay();
  const [asked, setAsked] = useState<Asked>();
  const mayWrite = may.partly(realm, 'users:write');
  const ask = (what: Asked) => ({ onAction: () => setAsked(what) });
  const all: (Action | false)[] = [
    mayWrite && { id: 'reset-mail', label: 'Mail a link for a new password…', icon: 'mail', ...ask('reset-mail') },
    mayWrite && { id: 'link', label: 'Make a set-up link…', icon: 'key', ...ask('link') },
    mayWrite && {
      id: 'enabled',
      label: user.enabled ? 'Disable…' : 'Enable…',
      icon: user.enabled ? 'close' : 'check',
      ...ask('enabled'),
    },
    may(realm, 'users:impersonate') && {
      id: 'impersonate',
      label: 'Act as the user…',
      icon: 'user',
      ...ask('impersonate'),
    },
    may.partly(realm, 'clients:read') && {
      id: 'tokens',
      label: 'Preview tokens',
      icon: 'code',
      to: inRealm(realm, 'users', user.id, 'token-preview'),
    },
    mayWrite && { id: 'delete', label: 'Delete…', icon: 'delete', danger: true, ...ask('delete') },
    may(realm, 'users:write') && { id: 'erase', label: 'Erase…', icon: 'delete', danger: true, ...ask('erase') },
  ];
  const actions = all.filter((one) => one !== false);
  const onClose = () => setAsked(undefined);
  return (
    <>
      {mayWrite && isLocked && <Button onPress={() => setAsked('unlock')}>Unlock…</Button>}
      {mayWrite && (
        <Button variant="primary" icon="key" onPress={() => setAsked('password')}>
          Reset password
        </Button>
      )}
      {actions.length > 0 && (
        <ActionMenu label="More actions" actions={actions}>
          <IconButton label="More actions" icon="more" />
        </ActionMenu>
      )}
      {asked === 'password' && <PasswordDialog realm={realm} user={user} onClose={onClose} />}
      {asked === 'reset-mail' && <ResetMail realm={realm} user={user} onClose={onClose} />}
      {asked === 'link' && <LinkDialog realm={realm} user={user} onClose={onClose} />}
      {asked === 'impersonate' && <Impersonate realm={realm} user={user} onClose={onClose} />}
      {asked === 'enabled' && <Enabling {...props} onClose={onClose} />}
      {asked === 'unlock' && <Unlock {...props} onClose={onClose} />}
      {asked === 'delete' && <Delete {...props} onClose={onClose} />}
      {asked === 'erase' && <Erase {...props} onClose={onClose} />}
    </>
  );
}

type Asking = Props & { onClose: () => void };
/** Deletes or erases, and leaves the page before anything asks for the user again. */
function useRemoval<R extends AnyRoute>(route: R, realm: string, done: string) {
  const [, navigate] = useLocation();
  return useMutation<unknown, ServerProblem, InputOf<R>>({
    mutationFn: (input) => call(route, input),
    onSuccess: () => {
      say(done);
      navigate(usersAddress(realm));
      // the page of the user is gone by then, and asks for nothing
      setTimeout(() => void readAnew(realm));
    },
  });
}

const onlyIf = (etag: string | undefined) => (etag === undefined ? {} : { headers: { 'if-match': etag } });

function Enabling({ realm, user, etag, onClose }: Asking) {
  const enabled = !user.enabled;
  return (
    <ConfirmWrite
      title={`${enabled ? 'Enable' : 'Disable'} ${user.username}?`}
      action={enabled ? 'Enable' : 'Disable'}
      danger={!enabled}
      route={putUser}
      input={{ params: { realm, userId: user.id }, body: { enabled }, ...onlyIf(etag) }}
      done={enabled ? 'Enabled the user.' : 'Disabled the user and ended all sessions.'}
      onClose={onClose}
    >
      <p>
        {enabled
          ? 'The user can sign in again.'
          : 'All sessions and tokens end now, and the user can’t sign in until an administrator enables them. The data of the user stays.'}
      </p>
    </ConfirmWrite>
  );
}

export function Unlock({ realm, user, onClose }: Pick<Asking, 'realm' | 'user' | 'onClose'>) {
  return (
    <ConfirmWrite
      title={`Unlock ${user.username}?`}
      action="Unlock"
      danger={false}
      route={deleteLockout}
      input={{ params: { realm, userId: user.id } }}
      realmctl={realmctl('users unlock', [user.username], `-r ${word(realm)}`)}
      done="Unlocked the user."
      onClose={onClose}
    >
      <p>
        The server forgets the failed sign-ins. The sign-in report shows where they came from; if they were not the
        user’s, reset the password too.
      </p>
    </ConfirmWrite>
  );
}

function ResetMail({ realm, user, onClose }: Pick<Asking, 'realm' | 'user' | 'onClose'>) {
  return (
    <ConfirmWrite
      title={`Mail ${user.username} a link for a new password?`}
      action="Send the mail"
      danger={false}
      route={mailPasswordReset}
      input={{ params: { realm, userId: user.id } }}
      done="The mail is on its way."
      onClose={onClose}
    >
      <p>
        The link goes to the verified address of the user, and works once, for twenty minutes. The present password
        stays until the user chooses another.
      </p>
    </ConfirmWrite>
  );
}

function Delete({ realm, user, etag, onClose }: Asking) {
  const remove = useRemoval(deleteUser, realm, 'Deleted the user.');
  const params = { realm, userId: user.id };
  return (
    <Confirm
      title={`Delete ${user.username}?`}
      action="Delete"
      busy={remove.isPending}
      problem={remove.error}
      commands={() => ({
        ...requestCommands(deleteUser, params),
        realmctl: realmctl('delete user', [user.username], `-r ${word(realm)}`),
      })}
      onClose={onClose}
      onConfirm={() => remove.mutate({ params, ...onlyIf(etag) })}
    >
      <p>
        The user, all sessions and all credentials are deleted. This can’t be undone. The audit log keeps the user’s
        name; to replace it there too, erase the user instead.
      </p>
    </Confirm>
  );
}

export function Erase({ realm, user, etag, onClose }: Omit<Asking, 'isLocked'>) {
  const erase = useRemoval(eraseUser, realm, 'Erased the user.');
  const params = { realm, userId: user.id };
  const [typed, setTyped] = useState('');
  return (
    <Confirm
      title={`Erase ${user.username}?`}
      action="Erase"
      busy={erase.isPending}
      isDisabled={typed !== user.username}
      problem={erase.error}
      commands={() => requestCommands(eraseUser, params)}
      onClose={onClose}
      onConfirm={() => erase.mutate({ params, ...onlyIf(etag) })}
    >
      <p>
        The user and all that belongs to them are deleted, and a pseudonym takes the user’s place in every row of the
        audit log and in waiting deliveries. This can’t be undone.
      </p>
      <TextField label={`Type ${user.username} to confirm`} value={typed} onChange={setTyped} mono />
    </Confirm>
  );
}
