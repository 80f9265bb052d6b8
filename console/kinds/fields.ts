// The fields of a form, read from the contract's schemas: each field's kind of value, label, help and limits.
import type { z } from 'zod';
import type { FieldForm } from '../../server/contract/kind-shown.ts';
import { labelOf } from './words.ts';

export type FieldType =
  | { is: 'text'; long?: boolean; most?: number; widget?: 'url' | 'colour' | 'css' }
  | { is: 'number' | 'duration'; least?: number; most?: number }
  | { is: 'boolean' | 'time' | 'secret' | 'json' }
  | { is: 'choice' | 'choices'; options: readonly string[]; names?: 'sections' }
  | { is: 'list'; item: FieldType }
  | { is: 'reference' | 'references'; kind: string }
  | { is: 'map'; value: FieldType }
  | { is: 'object'; fields: readonly Field[] }
  | { is: 'objects'; fields: readonly Field[] }
  | { is: 'union'; by: string; branches: readonly { name: string; fields: readonly Field[] }[] };

export interface Field {
  name: string;
  label: string;
  help?: string | undefined;
  type: FieldType;
  /** null is a value of it: "not set". */
  nullable: boolean;
  /** A new object must have it. */
  required: boolean;
}

type Definition = {
  type: string;
  innerType?: z.ZodType;
  element?: z.ZodType;
  valueType?: z.ZodType;
  entries?: Record<string, string>;
  shape?: Record<string, z.ZodType>;
  options?: z.ZodType[];
  discriminator?: string;
  values?: unknown[];
  in?: z.ZodType;
};
const definitionOf = (schema: z.ZodType): Definition => schema.def as unknown as Definition;

interface Opened {
  schema: z.ZodType;
  nullable: boolean;
  optional: boolean;
  help: string | undefined;
}
/** The schema inside of "may be absent", "may be null" and defaults. */
function opened(schema: z.ZodType): Opened {
  const found: Opened = { schema, nullable: false, optional: false, help: schema.description };
  for (;;) {
    const { type, innerType, in: input } = definitionOf(found.schema);
    if (type === 'nullable') found.nullable = true;
    else if (type === 'optional' || type === 'default' || type === 'prefault') found.optional = true;
    const inner = innerType ?? (type === 'pipe' ? input : undefined);
    if (inner === undefined) return found;
    found.schema = inner;
    found.help ??= inner.description;
  }
}

const INSTANT = 253_402_300_799_999;
/** From this many characters on, a text is written in several lines. */
const LONG = 1000;

interface Limits {
  minValue?: number | null;
  maxValue?: number | null;
  maxLength?: number | null;
  format?: string | null;
}

function numberType(name: string, schema: z.ZodType): FieldType {
  const { minValue, maxValue } = schema as Limits;
  if (maxValue === INSTANT) return { is: 'time' };
  const least = minValue !== null && minValue !== undefined && Number.isSafeInteger(minValue) ? minValue : undefined;
  const most = maxValue !== null && maxValue !== undefined && maxValue < Number.MAX_SAFE_INTEGER ? maxValue : undefined;
  return {
    is: /Seconds$/.test(name) ? 'duration' : 'number',
    ...(least !== undefined && { least }),
    ...(most !== undefined && { most }),
  };
}

function textType(name: string, schema: z.ZodType): FieldType {
  const { maxLength, format } = schema as Limits;
  const most = maxLength ?? undefined;
  const limit = most === undefined ? {} : { most };
  if (/colou?r$/i.test(name)) return { is: 'text', widget: 'colour', ...limit };
  if (/css$/i.test(name)) return { is: 'text', widget: 'css', long: true, ...limit };
  if (format === 'url' || /(Url|Uri|Endpoint)$/.test(name)) return { is: 'text', widget: 'url', ...limit };
  const long = (most ?? 0) >= LONG && !/(^(base|below|filter|issuer|name|path)|Dn|Id)$/.test(name);
  return { is: 'text', ...limit, ...(long && { long }) };
}

const textOnly = (type: FieldType): boolean => type.is === 'text' || type.is === 'choice';

interface Context {
  names: Readonly<Record<string, string>>;
  forms: Readonly<Record<string, FieldForm>>;
}

function typeOf(name: string, given: z.ZodType, context: Context): FieldType {
  const { schema } = opened(given);
  const definition = definitionOf(schema);
  switch (definition.type) {
    case 'string':
      return textType(name, schema);
    case 'number':
    case 'int':
      return numberType(name, schema);
    case 'boolean':
      return { is: 'boolean' };
    case 'enum':
      return { is: 'choice', options: Object.values(definition.entries ?? {}).map(String) };
    case 'literal':
      return { is: 'choice', options: (definition.values ?? []).map(String) };
    case 'array': {
      const item = definition.element ? typeOf(name, definition.element, context) : undefined;
      if (item?.is === 'choice') return { is: 'choices', options: item.options };
      if (item?.is === 'object') return { is: 'objects', fields: item.fields };
      return item && (textOnly(item) || item.is === 'number') ? { is: 'list', item } : { is: 'json' };
    }
    case 'record': {
      const value = definition.valueType ? typeOf(name, definition.valueType, context) : undefined;
      return value && (textOnly(value) || value.is === 'list' || value.is === 'number')
        ? { is: 'map', value }
        : { is: 'json' };
    }
    case 'object':
      return { is: 'object', fields: fieldsOf(definition.shape ?? {}, { names: {}, forms: {} }) };
    case 'union': {
      const { discriminator, options = [] } = definition;
      if (discriminator === undefined) return { is: 'json' };
      const branches = options.map((option) => {
        const { shape = {} } = definitionOf(opened(option).schema);
        const { [discriminator]: by, ...others } = shape;
        const value = by && definitionOf(opened(by).schema).values?.[0];
        return { name: String(value), fields: fieldsOf(others, { names: {}, forms: {} }) };
      });
      return { is: 'union', by: discriminator, branches };
    }
    default:
      return { is: 'json' };
  }
}

const widgets = {
  text: { is: 'text' },
  longText: { is: 'text', long: true },
  duration: { is: 'duration' },
  colour: { is: 'text', widget: 'colour' },
  url: { is: 'text', widget: 'url' },
  json: { is: 'json' },
  css: { is: 'text', widget: 'css', long: true },
  secret: { is: 'secret' },
} as const satisfies Record<Exclude<NonNullable<FieldForm['widget']>, 'sections'>, FieldType>;

function fieldOf(name: string, schema: z.ZodType, context: Context): Field {
  const { nullable, optional, help } = opened(schema);
  const { label, help: ownHelp, widget } = context.forms[name] ?? {};
  const kind = context.names[name];
  let type: FieldType = widget && widget !== 'sections' ? widgets[widget] : typeOf(name, schema, context);
  if (widget === 'sections' && type.is === 'choices') type = { ...type, names: 'sections' };
  if (kind !== undefined && textOnly(type)) type = { is: 'reference', kind };
  else if (kind !== undefined && type.is === 'list') type = { is: 'references', kind };
  return { name, label: label ?? labelOf(name), help: ownHelp ?? help, type, nullable, required: !optional };
}

export const fieldsOf = (shape: Readonly<Record<string, z.ZodType>>, context: Context): Field[] =>
  Object.entries(shape).map(([name, schema]) => fieldOf(name, schema, context));

/** The fields of an object's schema, but those that an answer alone has. */
export function formFields(
  schema: z.ZodType,
  {
    names = {},
    forms = {},
    secrets = [],
  }: { names?: Context['names'] | undefined; forms?: Context['forms'] | undefined; secrets?: readonly string[] },
): Field[] {
  const { shape = {} } = definitionOf(opened(schema).schema);
  const written = Object.entries(shape).filter(([name]) => !ANSWERED.has(name) && !/Set$/.test(name));
  const withSecrets: Record<string, FieldForm> = { ...forms };
  for (const name of secrets) withSecrets[name] = { ...withSecrets[name], widget: 'secret' };
  return fieldsOf(Object.fromEntries(written), { names, forms: withSecrets });
}
/** Fields that a PUT accepts because a GET answers them, and ignores. */
const ANSWERED = new Set(['id', 'realmId', 'createdAt', 'builtIn', 'updatedAt', 'managedBy']);

/** The group of fields in a form. */
export interface FieldGroup {
  title: string;
  help?: string | undefined;
  fields: Field[];
}
export function grouped(
  fields: readonly Field[],
  groups: readonly { title: string; help?: string; fields: readonly string[] }[] = [],
): FieldGroup[] {
  const placed = new Set(groups.flatMap((group) => group.fields));
  const others = fields.filter(({ name }) => !placed.has(name));
  const own = groups.map(({ title, help, fields: names }) => ({
    title,
    help,
    fields: names.flatMap((name) => fields.find((field) => field.name === name) ?? []),
  }));
  return [...own, { title: own.length > 0 ? 'More' : '', fields: others }].filter((group) => group.fields.length > 0);
}
