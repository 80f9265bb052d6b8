// Attributes as one map: a name, and its values one by one, as values may have any characters.
import { useState } from 'react';
import { Button } from '../../ui/button.tsx';
import { FieldSet, TextField } from '../../ui/fields.tsx';
import { Help } from '../../ui/help.tsx';
import { ListField } from '../../ui/list-field.tsx';

interface Entry {
  name: string;
  values: string[];
}

/** It keeps what is typed, as two names may be the same for a while; a new `key` shows another value. */
export function AttributesField({
  label,
  help,
  fault,
  value,
  onChange,
  isDisabled,
}: {
  label: string;
  help: string | undefined;
  fault: string | undefined;
  value: Readonly<Record<string, readonly string[]>>;
  onChange: (value: Record<string, string[]>) => void;
  isDisabled: boolean;
}) {
  const [entries, setEntries] = useState<readonly Entry[]>(() =>
    Object.entries(value).map(([name, values]) => ({ name, values: [...values] })),
  );
  const set = (next: readonly Entry[]) => {
    setEntries(next);
    onChange(Object.fromEntries(next.filter(({ name }) => name !== '').map(({ name, values }) => [name, values])));
  };
  const change = (at: number, changes: Partial<Entry>) =>
    set(entries.map((entry, i) => (i === at ? { ...entry, ...changes } : entry)));
  const isTwice = ({ name }: Entry) => name !== '' && entries.filter((one) => one.name === name).length > 1;
  return (
    <FieldSet label={label} help={help && <Help text={help} />} fault={fault}>
      <div className="items">
        {entries.length === 0 && <span className="none">none</span>}
        {entries.map((entry, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an attribute is its place
          <div key={at} className="nested">
            <TextField
              label={`Name of attribute ${at + 1}`}
              value={entry.name}
              onChange={(name) => change(at, { name })}
              fault={isTwice(entry) ? 'Another attribute has this name; the last one counts.' : undefined}
              isDisabled={isDisabled}
              most={255}
            />
            <ListField
              label={`Values of ${entry.name || `attribute ${at + 1}`}`}
              item="value"
              value={entry.values}
              onChange={(values) => change(at, { values })}
              isDisabled={isDisabled}
            />
            {!isDisabled && (
              <div className="row end">
                <Button small icon="delete" onPress={() => set(entries.filter((_, i) => i !== at))}>
                  Remove {entry.name || `attribute ${at + 1}`}
                </Button>
              </div>
            )}
          </div>
        ))}
        {!isDisabled && (
          <div>
            <Button small icon="add" onPress={() => set([...entries, { name: '', values: [''] }])}>
              Add attribute
            </Button>
          </div>
        )}
      </div>
    </FieldSet>
  );
}
