// Dialogs: over the page, with the focus inside, closed by Escape unless their answer is needed.
import type { ReactNode } from 'react';
import { Dialog as AriaDialog } from 'react-aria-components/Dialog';
import { Heading } from 'react-aria-components/Heading';
import { Modal, ModalOverlay } from 'react-aria-components/Modal';
import { IconButton } from './button.tsx';

export interface DialogProps {
  title: string;
  isOpen: boolean;
  /** Absent: it can't be closed without an answer. */
  onClose?: () => void;
  size?: 'wide' | 'widest';
  /** For a question whose answer can't be taken back. */
  alert?: boolean;
  footer?: ReactNode;
  children: ReactNode;
}

export function Dialog({ title, isOpen, onClose, size, alert, footer, children }: DialogProps) {
  return (
    <ModalOverlay
      className="veil"
      isOpen={isOpen}
      onOpenChange={(open) => {
        if (!open) onClose?.();
      }}
      isDismissable={onClose !== undefined && !alert}
      isKeyboardDismissDisabled={onClose === undefined}
    >
      <Modal className={size ? `modal ${size}` : 'modal'}>
        <AriaDialog className="dialog" role={alert ? 'alertdialog' : 'dialog'}>
          <header>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            {onClose && <IconButton label="Close" icon="close" small onPress={onClose} />}
          </header>
          <div className="content">{children}</div>
          {footer && <footer>{footer}</footer>}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}
