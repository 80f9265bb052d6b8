// Inputs of single values that need more than one control: lengths of time, moments, colours, secrets, JSON, maps.
import { type ReactNode, useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { Editor } from '../ui/editor.tsx';
import { FieldSet, NumberField, Select, TextField } from '../ui/fields.tsx';
import { Help } from '../ui/help.tsx';
import { DURATION_UNITS, unitOf } from '../ui/time.tsx';
import type { Row } from './entry.ts';
import type { Field, FieldType } from './fields.ts';
import { itemName } from './words.ts';

export const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
type Words = {
  label: string;
  help?: ReactNode;
  fault?: string | undefined;
  required?: boolean;
  isDisabled?: boolean;
};

export function DurationField({
  value,
  onChange,
  least,
  most,
  ...words
}: Words & { value: number | null; onChange: (value: number | null) => void; least?: number; most?: number }) {
  const [unit, setUnit] = useState(() => unitOf(value ?? 60));
  return (
    <NumberField
      {...words}
      value={value === null ? null : value / unit.size}
      onChange={(count) => onChange(count === null ? null : Math.round(count * unit.size))}
      {...(least !== undefined && { least: Math.ceil(least / unit.size) })}
      {...(most !== undefined && { most: Math.floor(most / unit.size) })}
      unit={
        <Select
          label={`Unit of ${words.label}`}
          hideLabel
          options={DURATION_UNITS.map(({ name }) => ({ id: name, label: name }))}
          value={unit.name}
          onChange={(name) => setUnit(DURATION_UNITS.find((one) => one.name === name) ?? unit)}
        />
      }
    />
  );
}

/** As the browser's own field of date and time, in the reader's time zone. */
export function TimeField({
  value,
  onChange,
  ...words
}: Words & { value: number | null; onChange: (value: number | null) => void }) {
  const local =
    value === null ? '' : new Date(value - new Date(value).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
  return (
    <FieldSet {...words}>
      <input
        className="input number wide"
        type="datetime-local"
        aria-label={words.label}
        value={local}
        disabled={words.isDisabled}
        onChange={({ target }) => onChange(target.value === '' ? null : new Date(target.value).getTime())}
      />
    </FieldSet>
  );
}

export function ColourField({
  value,
  onChange,
  ...words
}: Words & { value: string; onChange: (value: string) => void }) {
  const whole = /^#[0-9a-f]{6}$/i.test(value) ? value : '#000000';
  return (
    <FieldSet {...words}>
      <div className="colour">
        <input
          type="color"
          aria-label={`${words.label}: pick`}
          value={whole}
          data-unset={value === '' || undefined}
          onChange={({ target }) => onChange(target.value)}
          disabled={words.isDisabled}
        />
        <input
          className="input mono number"
          aria-label={`${words.label}: as hex`}
          placeholder="#1a2b3c"
          value={value}
          onChange={({ target }) => onChange(target.value)}
          disabled={words.isDisabled}
          aria-invalid={words.fault !== undefined || undefined}
        />
      </div>
    </FieldSet>
  );
}

/** A secret is written and never read: until it is replaced, the stored one stays. */
export function SecretField({
  value,
  onChange,
  isStored,
  ...words
}: Words & { value: unknown; onChange: (value: unknown) => void; isStored: boolean }) {
  const isWritten = typeof value === 'string';
  if (isWritten)
    return (
      <div className="field">
        <TextField {...words} type="password" value={value} onChange={onChange} autoComplete="new-password" autoFocus />
        <div className="row">
          <Button small onPress={() => onChange(undefined)}>
            {isStored ? 'Keep what is stored' : 'Leave it out'}
          </Button>
        </div>
      </div>
    );
  return (
    <FieldSet {...words}>
      <div className="row">
        <span className="soft small">
          {isStored ? 'One is stored. It is never shown, and stays until you set another.' : 'None is stored yet.'}
        </span>
        <Button small onPress={() => onChange('')} isDisabled={words.isDisabled ?? false}>
          Set a secret
        </Button>
      </div>
    </FieldSet>
  );
}

export function JsonField({
  value,
  onChange,
  nullable,
  ...words
}: Words & { value: unknown; onChange: (value: unknown) => void; nullable: boolean }) {
  const [text, setText] = useState(() => (value === undefined || value === null ? '' : JSON.stringify(value, null, 2)));
  const [wrong, setWrong] = useState<string>();
  const edit = (next: string) => {
    setText(next);
    try {
      onChange(next.trim() === '' ? (nullable ? null : undefined) : JSON.parse(next));
      setWrong(undefined);
    } catch (error) {
      setWrong(error instanceof Error ? error.message : 'is not JSON');
    }
  };
  const fault = wrong === undefined ? words.fault : `This is not JSON yet: ${wrong}`;
  return (
    <FieldSet {...words} fault={fault}>
      <Editor
        label={words.label}
        language="json"
        value={text}
        onChange={edit}
        isInvalid={fault !== undefined}
        isReadOnly={words.isDisabled ?? false}
      />
    </FieldSet>
  );
}

interface Entry {
  /** It stays while the name is typed, and the lines before it go. */
  id: number;
  name: string;
  one: unknown;
}

export function MapField({
  field,
  value,
  onChange,
  of,
  isDisabled,
  fault,
}: {
  field: Field;
  value: Row;
  onChange: (value: unknown) => void;
  of: FieldType;
  isDisabled: boolean;
  fault: string | undefined;
}) {
  const [entries, setEntries] = useState<readonly Entry[]>(() =>
    Object.entries(value).map(([name, one], id) => ({ id, name, one })),
  );
  const set = (next: readonly Entry[]) => {
    setEntries(next);
    onChange(Object.fromEntries(next.filter(({ name }) => name !== '').map(({ name, one }) => [name, one])));
  };
  const change = (at: number, changes: Partial<Entry>) =>
    set(entries.map((entry) => (entry.id === at ? { ...entry, ...changes } : entry)));
  const added = (): Entry => ({
    id: Math.max(-1, ...entries.map(({ id }) => id)) + 1,
    name: '',
    one: of.is === 'list' ? [] : '',
  });
  const asText = (one: unknown): string => (of.is === 'list' ? textsOf(one).join(', ') : String(one ?? ''));
  const asValue = (text: string): unknown =>
    of.is === 'list'
      ? text
          .split(',')
          .map((one) => one.trim())
          .filter((one) => one !== '')
      : of.is === 'number'
        ? Number(text)
        : text;
  return (
    <FieldSet label={field.label} help={field.help && <Help text={field.help} />} fault={fault}>
      <div className="items">
        {isDisabled && entries.length === 0 && <span className="none">none</span>}
        {entries.map(({ id, name, one }, at) => (
          <div key={id} className="item">
            <input
              className="input"
              aria-label={`Name ${at + 1}`}
              placeholder="Name"
              value={name}
              onChange={({ target }) => change(id, { name: target.value })}
              disabled={isDisabled}
            />
            <input
              className="input"
              aria-label={`Value of ${name}`}
              placeholder={of.is === 'list' ? 'Values, between commas' : 'Value'}
              defaultValue={asText(one)}
              onChange={({ target }) => change(id, { one: asValue(target.value) })}
              disabled={isDisabled}
              dir="auto"
            />
            {!isDisabled && (
              <IconButton
                label={`Remove ${name}`}
                icon="close"
                onPress={() => set(entries.filter((entry) => entry.id !== id))}
              />
            )}
          </div>
        ))}
        {!isDisabled && (
          <div>
            <Button small icon="add" onPress={() => set([...entries, added()])}>
              Add {itemName(field.label)}
            </Button>
          </div>
        )}
      </div>
    </FieldSet>
  );
}
