// A question before something that can't be taken back.
import type { ReactNode } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './state.tsx';

export function Confirm({
  title,
  action,
  busy,
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
          <Button variant="danger primary" isDisabled={busy} onPress={onConfirm}>
            {action}
          </Button>
        </>
      }
    >
      {problem ? <ProblemNote problem={problem} /> : null}
      {children}
    </Dialog>
  );
}
