// The input of one field of a form, by the kind of value that it holds.
import { Button } from '../ui/button.tsx';
import { Checkbox, Toggle } from '../ui/choices.tsx';
import { Editor } from '../ui/editor.tsx';
import { FieldSet, NumberField, Select, TextField } from '../ui/fields.tsx';
import { Help } from '../ui/help.tsx';
import { ListField } from '../ui/list-field.tsx';
import { sectionLabel } from './all.ts';
import type { Row } from './entry.ts';
import type { Field, FieldType } from './fields.ts';
import { isById } from './name-of.tsx';
import { ReferenceField, ReferencesField } from './reference-field.tsx';
import { ColourField, DurationField, JsonField, MapField, SecretField, TimeField, textsOf } from './value-inputs.tsx';
import { choiceWords, itemName, labelOf } from './words.ts';

export interface InputContext {
  realm: string;
  /** Messages by the path of the faulty value: `redirectUris[0]`. */
  faults: ReadonlyMap<string, string>;
  isDisabled?: boolean;
  /** Whether the server keeps a secret in the field; absent: it keeps none. */
  isStored?: (field: string) => boolean;
}

interface Props {
  field: Field;
  /** From the form's root: `config.host`. */
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  context: InputContext;
}

/** So many choices are found by the alphabet. */
const isMany = (options: readonly string[]): boolean => options.length > 8;

/** The choices with their words. */
function inOrder({ options, names }: Extract<FieldType, { is: 'choice' | 'choices' }>) {
  const words = names === 'sections' ? sectionLabel : choiceWords;
  const all = options.map((option) => ({ option, label: words(option) }));
  // "all of them" stays the first
  return isMany(options)
    ? all.toSorted(
        (one, other) =>
          Number(other.option === '*') - Number(one.option === '*') || one.label.localeCompare(other.label, 'en'),
      )
    : all;
}

const rowOf = (value: unknown): Row =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : {};

/** A field of an object that is left out has no text: an empty one would be refused as one. */
function withInner(row: Row, { name, required, nullable }: Field, value: unknown): Row {
  const { [name]: _, ...others } = row;
  return value === '' && !required && !nullable ? others : { ...row, [name]: value };
}

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
  const words = {
    label,
    help: help && <Help text={help} />,
    fault,
    required,
    ...(context.isDisabled && { isDisabled: true }),
  };
  /** '' is null where null is a value. */
  const orNull = (text: string) => (text === '' && nullable ? null : text);
  switch (type.is) {
    case 'boolean':
      return <Toggle {...words} isSelected={value === true} onChange={onChange} />;
    case 'number':
      return (
        <NumberField
          {...words}
          {...limitsOf(type)}
          value={typeof value === 'number' ? value : null}
          onChange={onChange}
        />
      );
    case 'duration':
      return (
        <DurationField
          {...words}
          {...limitsOf(type)}
          value={typeof value === 'number' ? value : null}
          onChange={onChange}
        />
      );
    case 'time':
      return <TimeField {...words} value={typeof value === 'number' ? value : null} onChange={onChange} />;
    case 'choice':
      return (
        <Select
          {...words}
          options={type.options.map((id) => ({ id, label: choiceWords(id) }))}
          value={typeof value === 'string' ? value : null}
          onChange={onChange}
          {...((nullable || !required) && { none: nullable ? 'Not set' : 'As it is by default' })}
        />
      );
    case 'choices':
      return (
        <FieldSet {...words}>
          <div className={isMany(type.options) ? 'columns down' : 'items'}>
            {inOrder(type).map(({ option, label: words }) => (
              <Checkbox
                key={option}
                label={words}
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
          byId={isById(field)}
          value={typeof value === 'string' ? value : null}
          onChange={onChange}
        />
      );
    case 'references':
      return (
        <ReferencesField {...words} realm={context.realm} kind={type.kind} value={textsOf(value)} onChange={onChange} />
      );
    case 'secret':
      return <SecretField {...words} value={value} onChange={onChange} isStored={context.isStored?.(path) ?? false} />;
    case 'map':
      return (
        <MapField
          field={field}
          value={rowOf(value)}
          onChange={onChange}
          of={type.value}
          isDisabled={context.isDisabled ?? false}
          fault={fault}
        />
      );
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
                onChange={(changed) => onChange(withInner(rowOf(value), inner, changed))}
                context={context}
              />
            ))}
          </div>
        </FieldSet>
      );
    case 'objects':
      return (
        <ObjectsField
          field={field}
          fields={type.fields}
          path={path}
          value={value}
          onChange={onChange}
          context={context}
        />
      );
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
      if (type.widget === 'colour')
        return <ColourField {...words} value={text} onChange={(next) => onChange(orNull(next))} />;
      if (type.widget === 'css')
        return (
          <FieldSet {...words}>
            <Editor
              label={label}
              language="css"
              value={text}
              onChange={(next) => onChange(orNull(next))}
              isInvalid={fault !== undefined}
              isReadOnly={context.isDisabled ?? false}
            />
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

function ObjectsField({
  field,
  fields,
  path,
  value,
  onChange,
  context,
}: {
  field: Field;
  fields: readonly Field[];
  path: string;
  value: unknown;
  onChange: (value: unknown) => void;
  context: InputContext;
}) {
  const items = Array.isArray(value) ? value.map(rowOf) : [];
  return (
    <FieldSet label={field.label} help={field.help && <Help text={field.help} />} fault={context.faults.get(path)}>
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
                onChange={(changed) =>
                  onChange(items.map((one, i) => (i === at ? { ...one, [inner.name]: changed } : one)))
                }
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
