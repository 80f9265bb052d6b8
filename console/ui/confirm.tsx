// A question before a change that can't be taken back, or that ends sessions.
import type { ReactNode } from 'react';
import { AsCommand, type Commands } from './as-command.tsx';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './state.tsx';

export interface Question {
  title: string;
  /** The words of the button. */
  action: string;
  isDisabled?: boolean;
  danger?: boolean;
  onClose: () => void;
  children: ReactNode;
}

export function Confirm({
  title,
  action,
  busy,
  isDisabled = false,
  danger = true,
  problem,
  commands,
  onConfirm,
  onClose,
  children,
}: Question & {
  busy: boolean;
  problem: unknown;
  /** The change for other tools. */
  commands: () => Commands | Promise<Commands>;
  onConfirm: () => void;
}) {
  return (
    <Dialog
      title={title}
      isOpen
      alert
      onClose={onClose}
      footer={
        <>
          <AsCommand quiet commands={commands} />
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
