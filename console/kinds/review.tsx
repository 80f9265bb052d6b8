// The last look before a change of configuration: the server's plan with its consequences, then the write. Every page that
// changes configuration saves through this dialog.
import { useQuery } from '@tanstack/react-query';
import { useEffect } from 'react';
import type { ServerProblem } from '../api/client.ts';
import { AsCommand, type Commands } from '../ui/as-command.tsx';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { Loading, Note, ProblemNote } from '../ui/state.tsx';
import { isSecretName } from './commands.ts';
import type { Row } from './entry.ts';
import { type Plan, planFaults, planOf } from './plan.ts';
import { FromTo, PlanView } from './plan-view.tsx';

export interface ReviewProps {
  title: string;
  realm: string;
  /** The change as a document; undefined: no document can say it, so the fields alone are shown. */
  document: Row | undefined;
  /** The fields that are sent, and what they hold now. */
  changes: Row;
  before: Row;
  save: string;
  /**
   * The object of the document: the name by which the server's faults call it, and whether the write creates it. Then one that
   * has the name already is a fault of the field `key`.
   */
  one?: { name: string; isNew?: boolean; key?: string };
  /** Shows the faults that the plan finds at their fields, and closes the review. */
  onFaults?: (faults: ReadonlyMap<string, string>) => void;
  onSave: () => void;
  onClose: () => void;
  isSaving: boolean;
  problem: unknown;
  commands?: () => Commands | Promise<Commands>;
  danger?: boolean;
}

/** A secret is shown as this. */
const HIDDEN = '***';

export function Review({
  title,
  realm,
  document,
  changes,
  before,
  save,
  one,
  onFaults,
  onSave,
  onClose,
  isSaving,
  problem,
  commands,
  danger,
}: ReviewProps) {
  const plan = useQuery<Plan | undefined, ServerProblem>({
    queryKey: [realm, 'plan', document],
    enabled: document !== undefined,
    queryFn: () => planOf(realm, document ?? {}),
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const planned = plan.data;
  const found = document && onFaults ? planFaults(plan.error, document, one?.name) : new Map<string, string>();
  if (planned && onFaults && one?.isNew && !planned.changes.some(({ action }) => action === 'create'))
    found.set(one.key ?? '', `the name ${one.name} is taken: choose another one, or edit the object that has it`);
  const isFaulty = found.size > 0;
  useEffect(() => {
    if (isFaulty) onFaults?.(found);
  });
  // an administrator who may write one kind may not be allowed to plan; the write itself is checked as ever
  const unplanned = document === undefined || (plan.error !== null && [403, 404].includes(plan.error.status));
  return (
    <Dialog
      title={title}
      isOpen
      onClose={onClose}
      size="wide"
      footer={
        <>
          {commands && <AsCommand commands={commands} quiet />}
          <Button onPress={onClose}>Back to editing</Button>
          <Button
            variant={danger ? 'danger primary' : 'primary'}
            onPress={onSave}
            isDisabled={isSaving || isFaulty || (!planned && !unplanned)}
          >
            {isSaving ? 'Saving…' : save}
          </Button>
        </>
      }
    >
      {problem ? <ProblemNote problem={problem} /> : null}
      {isFaulty ? null : planned ? (
        <PlanView plan={planned} byHand />
      ) : unplanned ? (
        <div className="plan">
          {plan.error?.status === 404 && <ProblemNote problem={plan.error} />}
          {plan.error?.status === 403 && (
            <Note>The server’s plan needs more permissions than you hold here, so these are the fields alone.</Note>
          )}
          <div className="plan-change">
            <div className="plan-fields">
              {Object.entries(changes).map(([name, value]) => (
                <div key={name} className="plan-field">
                  <code>{name}</code>
                  <FromTo
                    from={name in before ? (isSecretName(name) ? HIDDEN : before[name]) : undefined}
                    to={isSecretName(name) ? HIDDEN : value}
                  />
                </div>
              ))}
            </div>
          </div>
        </div>
      ) : plan.error ? (
        <ProblemNote problem={plan.error} />
      ) : (
        <Loading label="Asking the server for its plan" />
      )}
    </Dialog>
  );
}
