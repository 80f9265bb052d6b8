// A form over the fields of a kind, in groups. It knows what was changed, and marks what is wrong where it is.
import type { ReactNode } from 'react';
import { Button, ButtonLink } from '../ui/button.tsx';
import { Panel } from '../ui/page.tsx';
import type { Row } from './entry.ts';
import { FieldInput } from './field-input.tsx';
import type { FieldGroup } from './fields.ts';
import { type Managed, ManagedField } from './managed.tsx';

export const same = (one: unknown, other: unknown): boolean =>
  JSON.stringify(one ?? null) === JSON.stringify(other ?? null);

/** The fields whose values differ from what they were. */
export const changedFields = (before: Row, edits: Row): Row =>
  Object.fromEntries(
    Object.entries(edits).filter(([name, value]) => value !== undefined && !same(value, before[name])),
  );

export interface FormProps {
  realm: string;
  groups: readonly FieldGroup[];
  /** The values of fields that were not edited. */
  before: Row;
  edits: Row;
  onEdit: (name: string, value: unknown) => void;
  faults: ReadonlyMap<string, string>;
  isDisabled?: boolean;
  managed?: Managed | undefined;
  /** A field of a manager that may be edited nevertheless. */
  isOpen?: (field: string) => boolean;
}

export function FormFields({
  realm,
  groups,
  before,
  edits,
  onEdit,
  faults,
  isDisabled = false,
  managed,
  isOpen = () => false,
}: FormProps) {
  return (
    <>
      {groups.map(({ title, help, fields }) => {
        const content = (
          <div className="form-group">
            {fields.map((field) => (
              <ManagedField key={field.name} name={field.name} managed={managed} isOpen={isOpen(field.name)}>
                {(isManaged) => (
                  <FieldInput
                    field={field}
                    path={field.name}
                    value={field.name in edits ? edits[field.name] : before[field.name]}
                    onChange={(value) => onEdit(field.name, value)}
                    context={{
                      realm,
                      faults,
                      isDisabled: isDisabled || isManaged,
                      isStored: (name) => before[`${name}Set`] === true,
                    }}
                  />
                )}
              </ManagedField>
            ))}
          </div>
        );
        return (
          <Panel key={title} {...(title !== '' && { title, ...(help && { lead: help }) })} plain>
            {content}
          </Panel>
        );
      })}
    </>
  );
}

/** The line below a form: what is about to be saved, and the way out. */
export function FormActions({
  said,
  cancel,
  submit,
  busy,
  isDisabled,
  more,
}: {
  said?: ReactNode;
  /** Where the form came from. */
  cancel?: string;
  submit: string;
  busy?: boolean;
  isDisabled?: boolean;
  more?: ReactNode;
}) {
  return (
    <div className="form-actions">
      {said && (
        <span className="said" role="status">
          {said}
        </span>
      )}
      {more}
      {cancel !== undefined && <ButtonLink to={cancel}>Cancel</ButtonLink>}
      <Button type="submit" variant="primary" isDisabled={isDisabled || busy || false}>
        {busy ? 'Asking the server…' : submit}
      </Button>
    </div>
  );
}
