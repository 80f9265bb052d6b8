// The filters of the list that are not always at hand: group, role, organization, an attribute.
import { type FormEvent, useId, useState } from 'react';
import { useMay } from '../../api/session.ts';
import { ReferenceField } from '../../kinds/reference-field.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { TextField } from '../../ui/fields.tsx';
import type { FilterChanges } from '../../ui/filters.ts';
import type { UserFilters } from './filters.ts';

export function FilterDialog({
  realm,
  filters,
  onApply,
  onClose,
}: {
  realm: string;
  filters: UserFilters;
  onApply: (changes: FilterChanges) => void;
  onClose: () => void;
}) {
  const may = useMay();
  const form = useId();
  const [now, setNow] = useState(filters);
  const set = (changes: Partial<UserFilters>) => setNow((before) => ({ ...before, ...changes }));
  const lacksValue = now.attribute !== '' && now.value === '';
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (lacksValue) return;
    const { group, role, organization, attribute, value } = now;
    onApply({ group, role, organization, attribute, value: attribute === '' ? '' : value });
    onClose();
  };
  return (
    <Dialog
      title="Filter users"
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" form={form} variant="primary" isDisabled={lacksValue}>
            Apply
          </Button>
        </>
      }
    >
      <form id={form} className="stack" onSubmit={submit} noValidate>
        <ReferenceField
          realm={realm}
          kind="group"
          label="Group"
          help="Its direct members; those of its subgroups have filters of their own."
          value={now.group || null}
          onChange={(group) => set({ group: group ?? '' })}
        />
        {may(realm, 'users:read') && (
          <ReferenceField
            realm={realm}
            kind="role"
            label="Realm role"
            help="Users who hold it directly."
            value={now.role || null}
            onChange={(role) => set({ role: role ?? '' })}
          />
        )}
        {may(realm, 'organizations:read') && (
          <ReferenceField
            realm={realm}
            kind="organization"
            label="Organization"
            value={now.organization || null}
            onChange={(organization) => set({ organization: organization ?? '' })}
          />
        )}
        <div className="columns">
          <TextField
            label="Attribute"
            value={now.attribute}
            onChange={(attribute) => set({ attribute })}
            placeholder="department"
          />
          <TextField
            label="Value of the attribute"
            value={now.value}
            onChange={(value) => set({ value })}
            isDisabled={now.attribute === ''}
            fault={lacksValue ? 'Enter the value that users must have.' : undefined}
          />
        </div>
      </form>
    </Dialog>
  );
}
