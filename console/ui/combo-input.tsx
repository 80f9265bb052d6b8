// The field of a combo box. Typing, the arrow keys and a press open its choices; the focus alone does not, so that Tab passes it
// without a list over the page.
import { useContext } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { ComboBoxStateContext } from 'react-aria-components/ComboBox';
import { Input } from 'react-aria-components/Input';
import { Icon } from './icons.tsx';

export function ComboInput({ label, placeholder }: { label: string; placeholder: string }) {
  const state = useContext(ComboBoxStateContext);
  return (
    <div className="combo">
      <Input
        className="input"
        placeholder={placeholder}
        dir="auto"
        onClick={() => {
          if (!state?.isOpen) state?.open(null, 'manual');
        }}
      />
      <AriaButton className="button quiet icon small" aria-label={`Choices of ${label}`}>
        <Icon name="chevron" size={14} />
      </AriaButton>
    </div>
  );
}
