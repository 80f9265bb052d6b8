// The input of one field of a form, by the kind of value that it holds.
import { useState } from 'react';
import { Button, IconButton } from '../ui/button.tsx';
import { Checkbox, Toggle } from '../ui/choices.tsx';
import { Editor } from '../ui/editor.tsx';
import { FieldSet, NumberField, Select, TextField } from '../ui/fields.tsx';
import { ListField } from '../ui/list-field.tsx';
import { DURATION_UNITS, unitOf } from '../ui/time.tsx';
import type { Row } from './entry.ts';
import { type Field, type FieldType, labelOf } from './fields.ts';
import { ReferenceField, ReferencesField } from './reference-field.tsx';

export interface InputContext {
  realm: string;
  /** What is wrong, by path: `redirectUris[0]`. */
  faults: ReadonlyMap<string, string>;
  isDisabled?: boolean;
}

interface Props {
  field: Field;
  /** From the form's root: `config.host`. */
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  context: InputContext;
}

const textsOf = (value: unknown): string[] => (Array.isArray(value) ? value.map(String) : []);
const rowOf = (value: unknown): Row => (typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {});

/** The fault of the field itself, or of an item in it. */
function faultAt(faults: ReadonlyMap<string, string>, path: string): string | undefined {
  const own = faults.get(path);
  if (own !== undefined) return own;
  const [inner] = [...faults].filter(([at]) => at.startsWith(`${path}[`) || at.startsWith(`${path}.`));
  return inner && `${inner[0].slice(path.length).replace(/^\./, '')}: ${inner[1]}`;
}

export function FieldInput({ field, path, value, onChange, context }: Props) {
  const { label, help, type, nullable, required } = field;
  const nested = type.is === 'object' || type.is === 'objects' || type.is === 'union';
  const fault = nested ? context.faults.get(path) : faultAt(context.faults, path);
  const words = { label, help, fault, required, ...(context.isDisabled && { isDisabled: true }) };
  /** '' is null where null is a value. */
  const orNull = (text: string) => (text === '' && nullable ? null : text);
  switch (type.is) {
    case 'boolean':
      return <Toggle {...words} isSelected={value === true} onChange={onChange} />;
    case 'number':
      return <NumberField {...words} {...limitsOf(type)} value={typeof value === 'number' ? value : null} onChange={onChange} />;
    case 'duration':
      return <DurationField {...words} {...limitsOf(type)} value={typeof value === 'number' ? value : null} onChange={onChange} />;
    case 'time':
      return <TimeField {...words} value={typeof value === 'number' ? value : null} onChange={onChange} />;
    case 'choice':
      return (
        <Select
          {...words}
          options={type.options.map((id) => ({ id, label: id }))}
          value={typeof value === 'string' ? value : null}
          onChange={onChange}
          {...((nullable || !required) && { none: nullable ? 'Not set' : 'As it is by default' })}
        />
      );
    case 'choices':
      return (
        <FieldSet {...words}>
          <div className={type.options.length > 8 ? 'columns' : 'items'}>
            {type.options.map((option) => (
              <Checkbox
                key={option}
                label={option}
                isSelected={textsOf(value).includes(option)}
                isDisabled={context.isDisabled ?? false}
                onChange={(on) => {
                  const others = textsOf(value).filter((one) => one !== option);
                  onChange(type.options.filter((one) => (one === option ? on : others.includes(one))));
                }}
              />
            ))}
          </div>
        </FieldSet>
      );
    case 'list':
      return (
        <ListField
          {...words}
          item={itemName(label)}
          value={textsOf(value)}
          onChange={(items) => onChange(type.item.is === 'number' ? items.map(Number) : items)}
        />
      );
    case 'reference':
      return (
        <ReferenceField
          {...words}
          realm={context.realm}
          kind={type.kind}
          byId={field.name.endsWith('Id') && field.name !== 'clientId'}
          value={typeof value === 'string' ? value : null}
          onChange={onChange}
        />
      );
    case 'references':
      return <ReferencesField {...words} realm={context.realm} kind={type.kind} value={textsOf(value)} onChange={onChange} />;
    case 'secret':
      return <SecretField {...words} value={value} onChange={onChange} nullable={nullable} />;
    case 'map':
      return <MapField field={field} value={rowOf(value)} onChange={onChange} of={type.value} context={context} fault={fault} />;
    case 'object':
      return (
        <FieldSet {...words}>
          <div className="nested">
            {type.fields.map((inner) => (
              <FieldInput
                key={inner.name}
                field={inner}
                path={`${path}.${inner.name}`}
                value={rowOf(value)[inner.name]}
                onChange={(changed) => onChange({ ...rowOf(value), [inner.name]: changed })}
                context={context}
              />
            ))}
          </div>
        </FieldSet>
      );
    case 'objects':
      return <ObjectsField field={field} fields={type.fields} path={path} value={value} onChange={onChange} context={context} />;
    case 'union': {
      const now = rowOf(value);
      const branch = type.branches.find(({ name }) => name === now[type.by]);
      return (
        <FieldSet {...words}>
          <div className="nested">
            <Select
              label={labelOf(type.by)}
              options={type.branches.map(({ name }) => ({ id: name, label: name }))}
              value={branch?.name ?? null}
              onChange={(name) => onChange(name === null ? null : { [type.by]: name })}
              {...(nullable && { none: 'Not set' })}
            />
            {branch?.fields.map((inner) => (
              <FieldInput
                key={inner.name}
                field={inner}
                path={`${path}.${inner.name}`}
                value={now[inner.name]}
                onChange={(changed) => onChange({ ...now, [inner.name]: changed })}
                context={context}
              />
            ))}
          </div>
        </FieldSet>
      );
    }
    case 'json':
      return <JsonField {...words} value={value} onChange={onChange} nullable={nullable} />;
    default: {
      const text = typeof value === 'string' ? value : '';
      if (type.widget === 'colour') return <ColourField {...words} value={text} onChange={(next) => onChange(orNull(next))} />;
      if (type.widget === 'css')
        return (
          <FieldSet {...words}>
            <Editor label={label} language="css" value={text} onChange={(next) => onChange(orNull(next))} isInvalid={fault !== undefined} isReadOnly={context.isDisabled ?? false} />
          </FieldSet>
        );
      return (
        <TextField
          {...words}
          value={text}
          onChange={(next) => onChange(orNull(next))}
          {...(type.most !== undefined && { most: type.most })}
          {...(type.long && { rows: 4 })}
          {...(type.widget === 'url' && { placeholder: 'https://' })}
        />
      );
    }
  }
}

const limitsOf = ({ least, most }: { least?: number; most?: number }) => ({
  ...(least !== undefined && { least }),
  ...(most !== undefined && { most }),
});
/** `Redirect URIs` → `redirect URI` */
const itemName = (label: string): string => (label.charAt(0).toLowerCase() + label.slice(1)).replace(/ies$/, 'y').replace(/s$/, '');

type Words = { label: string; help?: string | undefined; fault?: string | undefined; required?: boolean; isDisabled?: boolean };

function DurationField({ value, onChange, least, most, ...words }: Words & { value: number | null; onChange: (value: number | null) => void; least?: number; most?: number }) {
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
function TimeField({ value, onChange, ...words }: Words & { value: number | null; onChange: (value: number | null) => void }) {
  const local = value === null ? '' : new Date(value - new Date(value).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
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

function ColourField({ value, onChange, ...words }: Words & { value: string; onChange: (value: string) => void }) {
  const whole = /^#[0-9a-f]{6}$/i.test(value) ? value : '#000000';
  return (
    <FieldSet {...words}>
      <div className="colour">
        <input type="color" aria-label={`${words.label}: pick`} value={whole} onChange={({ target }) => onChange(target.value)} disabled={words.isDisabled} />
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
function SecretField({ value, onChange, nullable, ...words }: Words & { value: unknown; onChange: (value: unknown) => void; nullable: boolean }) {
  const isWritten = typeof value === 'string';
  if (isWritten)
    return (
      <div className="field">
        <TextField {...words} type="password" value={value} onChange={onChange} autoComplete="new-password" autoFocus />
        <div className="row">
          <Button small onPress={() => onChange(undefined)}>
            Keep what is stored
          </Button>
        </div>
      </div>
    );
  return (
    <FieldSet {...words}>
      <div className="row">
        <span className="soft small">{value === null && nullable ? 'None is stored after saving.' : 'Written here, never shown again.'}</span>
        <Button small onPress={() => onChange('')} isDisabled={words.isDisabled ?? false}>
          Set a secret
        </Button>
      </div>
    </FieldSet>
  );
}

function JsonField({ value, onChange, nullable, ...words }: Words & { value: unknown; onChange: (value: unknown) => void; nullable: boolean }) {
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
      <Editor label={words.label} language="json" value={text} onChange={edit} isInvalid={fault !== undefined} isReadOnly={words.isDisabled ?? false} />
    </FieldSet>
  );
}

function MapField({ field, value, onChange, of, context, fault }: { field: Field; value: Row; onChange: (value: unknown) => void; of: FieldType; context: InputContext; fault: string | undefined }) {
  const [entries, setEntries] = useState<readonly [string, unknown][]>(() => Object.entries(value));
  const set = (next: readonly [string, unknown][]) => {
    setEntries(next);
    onChange(Object.fromEntries(next.filter(([name]) => name !== '')));
  };
  const change = (at: number, entry: [string, unknown]) => set(entries.map((one, i) => (i === at ? entry : one)));
  const asText = (one: unknown): string => (of.is === 'list' ? textsOf(one).join(', ') : String(one ?? ''));
  const asValue = (text: string): unknown =>
    of.is === 'list' ? text.split(',').map((one) => one.trim()).filter((one) => one !== '') : of.is === 'number' ? Number(text) : text;
  return (
    <FieldSet label={field.label} help={field.help} fault={fault}>
      <div className="items">
        {entries.map(([name, one], at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a line is its place
          <div key={at} className="item">
            <input className="input" aria-label={`Name ${at + 1}`} placeholder="Name" value={name} onChange={({ target }) => change(at, [target.value, one])} disabled={context.isDisabled} />
            <input
              className="input"
              aria-label={`Value of ${name}`}
              placeholder={of.is === 'list' ? 'Values, between commas' : 'Value'}
              defaultValue={asText(one)}
              onChange={({ target }) => change(at, [name, asValue(target.value)])}
              disabled={context.isDisabled}
              dir="auto"
            />
            <IconButton label={`Remove ${name}`} icon="close" isDisabled={context.isDisabled ?? false} onPress={() => set(entries.filter((_, i) => i !== at))} />
          </div>
        ))}
        {!context.isDisabled && (
          <div>
            <Button small icon="add" onPress={() => set([...entries, ['', of.is === 'list' ? [] : '']])}>
              Add {itemName(field.label)}
            </Button>
          </div>
        )}
      </div>
    </FieldSet>
  );
}

function ObjectsField({ field, fields, path, value, onChange, context }: { field: Field; fields: readonly Field[]; path: string; value: unknown; onChange: (value: unknown) => void; context: InputContext }) {
  const items = Array.isArray(value) ? value.map(rowOf) : [];
  return (
    <FieldSet label={field.label} help={field.help} fault={context.faults.get(path)}>
      <div className="items">
        {items.map((item, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an item is its place
          <div key={at} className="nested">
            {fields.map((inner) => (
              <FieldInput
                key={inner.name}
                field={inner}
                path={`${path}[${at}].${inner.name}`}
                value={item[inner.name]}
                onChange={(changed) => onChange(items.map((one, i) => (i === at ? { ...one, [inner.name]: changed } : one)))}
                context={context}
              />
            ))}
            {!context.isDisabled && (
              <div className="row end">
                <Button small icon="delete" onPress={() => onChange(items.filter((_, i) => i !== at))}>
                  Remove {itemName(field.label)} {at + 1}
                </Button>
              </div>
            )}
          </div>
        ))}
        {!context.isDisabled && (
          <div>
            <Button small icon="add" onPress={() => onChange([...items, {}])}>
              Add {itemName(field.label)}
            </Button>
          </div>
        )}
      </div>
    </FieldSet>
  );
}
