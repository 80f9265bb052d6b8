// Takes an applied plan back: the server's plan of that first, then the write at the revision that was planned against.
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { call, type ServerProblem } from '../../api/client.ts';
import { useWrite } from '../../api/queries.ts';
import { undoHistory } from '../../generated/routes.ts';
import { curlOf } from '../../kinds/commands.ts';
import { clusterResource } from '../../kinds/managers.ts';
import { PlanView } from '../../kinds/plan-view.tsx';
import { word } from '../../kinds/shell-words.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';
import { historyAddress } from './history.tsx';

export function UndoDialog({
  realm,
  revision,
  manager,
  onClose,
}: {
  realm: string;
  revision: number;
  manager: string;
  onClose: () => void;
}) {
  const [, navigate] = useLocation();
  const params = { realm, revision };
  const plan = useQuery({
    queryKey: [realm, 'undo', revision],
    queryFn: async () => (await call(undoHistory, { params, query: { dryRun: 'true' } })).body,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const undo = useWrite(undoHistory);
  const planned = plan.data;
  const changed = (problem: ServerProblem) => problem.is('precondition-failed');
  return (
    <Dialog
      title={`Take revision ${revision} back`}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <>
          <AsCommand
            quiet
            commands={() => ({
              realmctl: `realmctl undo ${word(realm)} ${revision}`,
              curl: curlOf(undoHistory, params),
            })}
          />
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="danger primary"
            isDisabled={!planned || planned.inSync || undo.isPending}
            onPress={() =>
              undo.mutate(
                { params, query: {}, headers: { 'if-match': `"${planned?.revision}"` } },
                {
                  onSuccess: ({ body }) => {
                    say(`Took revision ${revision} back.`);
                    onClose();
                    if (body) navigate(historyAddress(realm, body.revision));
                  },
                  onError: (problem) => {
                    if (changed(problem)) void plan.refetch();
                  },
                },
              )
            }
          >
            {undo.isPending ? 'Taking it back…' : 'Take it back'}
          </Button>
        </>
      }
    >
      {undo.error &&
        (changed(undo.error) ? (
          <Note tone="warn" live>
            <strong>The realm changed meanwhile.</strong>
            <span>This is the plan anew.</span>
          </Note>
        ) : (
          <ProblemNote problem={undo.error} />
        ))}
      {plan.error && <ProblemNote problem={plan.error} />}
      {plan.isPending && <Loading label="Asking the server for its plan" />}
      {planned && (
        <>
          <Note tone="warn">
            <strong>Take it back where it is declared, too.</strong>
            <span>
              {clusterResource(manager)
                ? 'The operator applies its resource again with its next run.'
                : `If ${manager} applies the same document again, the change returns.`}
            </span>
          </Note>
          {planned.keptSecrets.length > 0 && (
            <Note>
              Secrets and personal fields are not kept in the history. They stay as they are:{' '}
              {planned.keptSecrets.map(({ key, path }) => `${key}: ${path}`).join(', ')}.
            </Note>
          )}
          <PlanView plan={planned} />
        </>
      )}
    </Dialog>
  );
}
