// Sends everything to a SCIM target again. What is out of step is shown first.
import { useQuery } from '@tanstack/react-query';
import { call } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { reconcileScimTarget } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Facts } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

const words = { create: 'made there', update: 'changed there', delete: 'deleted there' } as const;

export function ReconcileDialog({
  realm,
  target: { id, name },
  mayLook,
  onClose,
}: {
  realm: string;
  target: { id: string; name: string };
  /** Whether the reader may see the users and groups, which the look names. */
  mayLook: boolean;
  onClose: () => void;
}) {
  const params = { realm, id };
  const look = useQuery({
    queryKey: [realm, 'reconcile', id],
    enabled: mayLook,
    queryFn: async () => (await call(reconcileScimTarget, { params, query: { dryRun: 'true' } })).body,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
  });
  const send = useWrite(reconcileScimTarget);
  const found = look.data;
  const counts = (['create', 'update', 'delete', 'unchanged'] as const).flatMap((what) => {
    const count = found?.[what];
    return count === null || count === undefined
      ? []
      : [{ name: what === 'unchanged' ? 'In step' : `To be ${words[what]}`, value: count.toLocaleString('en') }];
  });
  return (
    <Dialog
      title={`Send everything to ${name} again`}
      isOpen
      onClose={onClose}
      footer={
        <>
          <AsCommand quiet commands={() => requestCommands(reconcileScimTarget, params)} />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={send.isPending}
            onPress={() =>
              send.mutate(
                { params, query: {} },
                {
                  onSuccess: () => {
                    say('Everything is queued. The list shows how far it is.');
                    onClose();
                  },
                },
              )
            }
          >
            Send everything
          </Button>
        </>
      }
    >
      {send.error && <ProblemNote problem={send.error} />}
      <p>All users and groups of the target are sent again. What others changed there is put back.</p>
      {look.error && <ProblemNote problem={look.error} />}
      {mayLook && look.isPending && <Loading lines={3} label="Comparing with what was sent before" />}
      {counts.length > 0 && <Facts facts={counts} />}
      {found && found.examples.length > 0 && (
        <Note>
          <strong>Out of step{found.examples.length >= 100 && ', the first hundred'}:</strong>
          <ul>
            {found.examples.map(({ kind, id: of, name: named, action }) => (
              <li key={`${kind} ${of}`}>
                {kind} <bdi>{named ?? of}</bdi> is {words[action]}
              </li>
            ))}
          </ul>
        </Note>
      )}
    </Dialog>
  );
}
