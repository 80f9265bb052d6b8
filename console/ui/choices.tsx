// Yes or no: a box that is ticked, and a switch. A switch has an effect that its label names; a box is part of a selection.
import type { ReactNode } from 'react';
import { Checkbox as AriaCheckbox } from 'react-aria-components/Checkbox';
import { Switch as AriaSwitch } from 'react-aria-components/Switch';
import { Icon } from './icons.tsx';

export function Checkbox({
  label,
  help,
  hideLabel,
  isSelected,
  isDisabled,
  onChange,
  slot,
}: {
  label: string;
  help?: ReactNode;
  hideLabel?: boolean;
  isSelected?: boolean;
  isDisabled?: boolean;
  onChange?: (selected: boolean) => void;
  slot?: string;
}) {
  return (
    <AriaCheckbox
      className="check"
      {...(slot !== undefined && { slot })}
      {...(isSelected !== undefined && { isSelected })}
      {...(isDisabled !== undefined && { isDisabled })}
      {...(onChange && { onChange })}
      {...(hideLabel && { 'aria-label': label })}
    >
      <span className="box">
        <Icon name="check" />
      </span>
      {!hideLabel && (
        <span className="words">
          <span>{label}</span>
          {help && <span className="hint">{help}</span>}
        </span>
      )}
    </AriaCheckbox>
  );
}

export function Toggle({
  label,
  help,
  isSelected,
  isDisabled,
  onChange,
}: {
  label: string;
  help?: ReactNode;
  isSelected: boolean;
  isDisabled?: boolean;
  onChange: (selected: boolean) => void;
}) {
  return (
    <AriaSwitch
      className="switch"
      isSelected={isSelected}
      onChange={onChange}
      {...(isDisabled !== undefined && { isDisabled })}
    >
      <span className="track" />
      <span className="words">
        <span>{label}</span>
        {help && <span className="hint">{help}</span>}
      </span>
    </AriaSwitch>
  );
}
