// The actions that the next sign-in demands of a user, as boxes to tick.
import { Checkbox } from '../../ui/choices.tsx';
import { FieldSet } from '../../ui/fields.tsx';
import { actionWords, allActions, type RequiredAction } from './words.ts';

export function ActionChoice({
  value,
  onChange,
  fault,
  isDisabled = false,
  label = 'At the next sign-in the user must',
}: {
  value: readonly RequiredAction[];
  onChange: (value: RequiredAction[]) => void;
  fault?: string | undefined;
  isDisabled?: boolean;
  label?: string;
}) {
  return (
    <FieldSet label={label} fault={fault}>
      <div className="columns">
        {allActions.map((action) => (
          <Checkbox
            key={action}
            label={actionWords[action]}
            isSelected={value.includes(action)}
            isDisabled={isDisabled}
            onChange={(on) => onChange(allActions.filter((one) => (one === action ? on : value.includes(one))))}
          />
        ))}
      </div>
    </FieldSet>
  );
}
