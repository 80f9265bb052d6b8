// A question before a change that can't be taken back, or that ends sessions.
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './state.tsx';

export function Confirm({
  title,
  action,
  busy,
  isDisabled = false,
  danger = true,
  problem,
  onConfirm,
  onClose,
  more,
  children,
}: {
  title: string;
  /** The words of the button. */
  action: string;
  busy: boolean;
  isDisabled?: boolean;
  danger?: boolean;
  problem: unknown;
  onConfirm: () => void;
  onClose: () => void;
  more?: ReactNode;
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
          {more}
          <Button onPress={onClose}>Cancel</Button>
          <Button variant={danger ? 'danger primary' : 'primary'} isDisabled={busy || isDisabled} onPress={onConfirm}>
            {busy ? 'Asking the server…' : action}
          </Button>
        </>
      }
    >
      {children}
      {problem ? <ProblemNote problem={problem} /> : null}
    </Dialog>
  );
}
