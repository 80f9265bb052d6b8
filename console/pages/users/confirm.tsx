// A question before a change that can't be taken back, or that ends sessions.
import type { ReactNode } from 'react';
import type { ServerProblem } from '../../api/client.ts';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { ProblemNote } from '../../ui/state.tsx';

export function Confirm({
  title,
  action,
  danger = true,
  isBusy,
  isDisabled = false,
  problem,
  onConfirm,
  onClose,
  children,
}: {
  title: string;
  /** The label of the button: a verb. */
  action: string;
  danger?: boolean;
  isBusy: boolean;
  isDisabled?: boolean;
  problem: ServerProblem | null;
  onConfirm: () => void;
  onClose: () => void;
  children: ReactNode;
}) {
  return (
    <Dialog
      title={title}
      isOpen
      alert
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button variant={danger ? 'danger primary' : 'primary'} isDisabled={isBusy || isDisabled} onPress={onConfirm}>
            {isBusy ? 'Asking the server…' : action}
          </Button>
        </>
      }
    >
      {children}
      {problem && <ProblemNote problem={problem} />}
    </Dialog>
  );
}
