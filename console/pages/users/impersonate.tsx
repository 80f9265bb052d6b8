// Acting as a user: a session of half an hour at most, begun by an address that works once.
import { useWrite } from '../../api/queries.ts';
import { impersonateUser } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { realmctl, word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import type { User } from './words.ts';

/** The server's own address alone is opened, whatever the answer says. */
const isWeb = (address: string): boolean => /^https?:$/.test(URL.parse(address)?.protocol ?? '');

export function Impersonate({ realm, user, onClose }: { realm: string; user: User; onClose: () => void }) {
  const act = useWrite(impersonateUser);
  const made = act.data?.body;
  const params = { realm, userId: user.id };
  return (
    <Dialog
      title={`Act as ${user.username}`}
      isOpen
      onClose={onClose}
      footer={
        made ? (
          <>
            <Button onPress={onClose}>Done</Button>
            {isWeb(made.url) && (
              <a className="button primary" href={made.url} target="_blank" rel="noreferrer">
                Open as {user.username}
              </a>
            )}
          </>
        ) : (
          <>
            <AsCommand
              quiet
              commands={() => ({
                realmctl: realmctl('users impersonate', [user.username], `-r ${word(realm)}`),
                curl: curlOf(impersonateUser, params),
              })}
            />
            <Button onPress={onClose}>Cancel</Button>
            <Button variant="primary" isDisabled={act.isPending} onPress={() => act.mutate({ params })}>
              {act.isPending ? 'Asking the server…' : 'Act as the user'}
            </Button>
          </>
        )
      }
    >
      {made ? (
        <>
          <Note tone="warn">
            The address works once, within a minute, and signs this browser in as the user; a private window keeps your
            own session of the realm. The session ends by itself <Time ms={made.expiresAt} />.
          </Note>
          <Code text={made.url} label="the address" />
        </>
      ) : (
        <>
          <p>
            You get a session of the user for half an hour at most. It proves no factor of the user: it can’t consent,
            gets no offline tokens and no admin rights, and changes nothing in the account.
          </p>
          <Note>The audit log names you and the user, and the pages show both names.</Note>
          {act.error && <ProblemNote problem={act.error} />}
        </>
      )}
    </Dialog>
  );
}
