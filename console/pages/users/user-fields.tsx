// The fields of a user in a form, in the order of the realm's user profile.
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { getUserProfile } from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { FieldInput } from '../../kinds/field-input.tsx';
import { Toggle } from '../../ui/choices.tsx';
import { AttributesField } from './attributes-field.tsx';
import { OTHERS, type UserField, userFields } from './profile-fields.ts';

/** undefined while the profile loads; without `settings:read` the fields that every realm has. */
export function useUserFields(realm: string): UserField[] | undefined {
  const may = useMay();
  const mayRead = may(realm, 'settings:read');
  const profile = useRead(getUserProfile, { params: { realm } }, { enabled: mayRead });
  if (mayRead && !profile.data && !profile.error) return undefined;
  return userFields(profile.data?.body, !may(realm, 'users:write'));
}

export function UserFields({
  realm,
  fields,
  values,
  faults,
  onEdit,
  isDisabled,
}: {
  realm: string;
  fields: readonly UserField[];
  values: Row;
  faults: ReadonlyMap<string, string>;
  onEdit: (name: string, value: unknown) => void;
  isDisabled: boolean;
}) {
  const may = useMay();
  const shown = new Set(fields.map(({ name }) => name));
  // what is wrong with an attribute that has a field of its own is shown there
  const ofOthers = [...faults]
    .filter(([at]) => at.startsWith(OTHERS) && (at === OTHERS || !shown.has(at.replace(/\[\d+\]$/, ''))))
    .map(([at, message]) => (at === OTHERS ? message : `${at.slice(OTHERS.length + 1)}: ${message}`))[0];
  return (
    <div className="form-group">
      {fields.map((field) => (
        <div key={field.name} className="stack tight">
          {field.name === OTHERS ? (
            <AttributesField
              label={field.label}
              help={field.isReadOnly && !isDisabled ? readOnlyHelp(field) : field.help}
              fault={ofOthers}
              value={Object(values[OTHERS])}
              onChange={(value) => onEdit(OTHERS, value)}
              isDisabled={isDisabled || field.isReadOnly}
            />
          ) : (
            <FieldInput
              field={field.isReadOnly && !isDisabled ? { ...field, help: readOnlyHelp(field) } : field}
              path={field.name}
              value={values[field.name]}
              onChange={(value) => onEdit(field.name, value)}
              context={{ realm, faults, isDisabled: isDisabled || field.isReadOnly }}
            />
          )}
          {field.name === 'email' && (
            <Toggle
              label="The address is verified"
              help="Codes and links go to verified addresses alone."
              isSelected={values.emailVerified === true}
              isDisabled={isDisabled || !may(realm, 'users:write')}
              onChange={(on) => onEdit('emailVerified', on)}
            />
          )}
        </div>
      ))}
    </div>
  );
}

const readOnlyHelp = ({ help }: UserField): string =>
  [help, 'You may not change it.'].filter((one) => one !== undefined).join(' ');
