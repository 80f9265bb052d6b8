// The settings of a step as fields of a form, from the JSON Schema that the registry answers for its authenticator.
import type { Row } from '../../kinds/entry.ts';
import type { Field, FieldType } from '../../kinds/fields.ts';
import { inSentence, labelOf } from '../../kinds/words.ts';

interface Schema {
  type?: string;
  description?: string;
  enum?: unknown[];
  const?: unknown;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
  minimum?: number;
  maximum?: number;
  maxLength?: number;
}

/** Settings that name objects of a kind. */
const names: Readonly<Record<string, string>> = {
  roles: 'role',
  groups: 'group',
  clients: 'client',
  clientId: 'client',
  providers: 'identityProvider',
  provider: 'identityProvider',
  alias: 'identityProvider',
};

const safe = (bound: number | undefined): bound is number =>
  bound !== undefined && Math.abs(bound) < Number.MAX_SAFE_INTEGER;

function typeOf(name: string, schema: Schema): FieldType {
  const kind = names[name];
  if (schema.enum) return { is: 'choice', options: schema.enum.map(String) };
  switch (schema.type) {
    case 'boolean':
      return { is: 'boolean' };
    case 'integer':
    case 'number':
      return {
        is: name.endsWith('Seconds') ? 'duration' : 'number',
        ...(safe(schema.minimum) && { least: schema.minimum }),
        ...(safe(schema.maximum) && { most: schema.maximum }),
      };
    case 'string':
      if (kind !== undefined) return { is: 'reference', kind };
      return { is: 'text', ...(schema.maxLength !== undefined && { most: schema.maxLength }) };
    case 'array': {
      const { items = {} } = schema;
      const options = items.enum?.map(String);
      if (options) return { is: 'choices', options };
      if (kind !== undefined) return { is: 'references', kind };
      const textual = items.type === 'string' || items.anyOf?.every(({ type }) => type === 'string');
      return textual ? { is: 'list', item: { is: 'text' } } : { is: 'json' };
    }
    default:
      return { is: 'json' };
  }
}

export function configFields(schema: Row | undefined): Field[] {
  const { properties = {}, required = [] }: Schema = Object(schema);
  return Object.entries(properties).map(([name, given]) => {
    const options = given.anyOf?.filter(({ type }) => type !== 'null') ?? [];
    const [only] = options;
    const inner = only && options.length === 1 ? only : given;
    return {
      name,
      label: labelOf(name),
      help: given.description,
      type: typeOf(name, inner),
      nullable: options.length > 0 && options.length < (given.anyOf?.length ?? 0),
      required: required.includes(name),
    };
  });
}

const isEmpty = (value: unknown): boolean =>
  value === undefined ||
  value === null ||
  value === '' ||
  value === false ||
  (Array.isArray(value) && value.length === 0);

/** A setting that is left empty is left out. */
export function withSetting(config: Row, { name, required }: Field, value: unknown): Row {
  const { [name]: _, ...others } = config;
  return isEmpty(value) && !(required && value === false) ? others : { ...others, [name]: value };
}

const said = (value: unknown): string =>
  Array.isArray(value) ? value.map(said).join(', ') : typeof value === 'object' ? JSON.stringify(value) : String(value);

/** `roles: admin, editor` */
export const configWords = (config: Row): string =>
  Object.entries(config)
    .map(([name, value]) =>
      value === true ? inSentence(labelOf(name)) : `${inSentence(labelOf(name))}: ${said(value)}`,
    )
    .join('; ');
