// The fields that apply to an object, where another field decides: an OpenID provider has no SAML certificates.
import type { Applies } from '../../server/contract/kind-shown.ts';
import type { Row } from './entry.ts';
import type { Field, FieldGroup } from './fields.ts';

const isEmpty = (value: unknown): boolean =>
  value === undefined || value === null || value === '' || (Array.isArray(value) && value.length === 0);

/** Whether the field of this path applies to the object; before the deciding field has a value, none does. */
const isApplicable = ({ by, where }: Applies, row: Row, path: string): boolean =>
  where[path]?.includes(String(row[by])) ?? true;

/** Documentation names the values first: `oidc, oauth2: where its keys are`. The form shows the field with these alone. */
function helpFor({ where }: Applies, path: string, help: string | undefined): string | undefined {
  const values = (where[path] ?? []).join(', ');
  if (help === undefined || values === '' || !help.startsWith(values)) return help;
  return help.slice(values.length).replace(/^: /, '') || undefined;
}

function fieldsFor(applies: Applies, row: Row, fields: readonly Field[]): Field[] {
  return fields.flatMap((field): Field[] => {
    // a value that has no effect stays in sight, so that it can be taken away
    if (!isApplicable(applies, row, field.name) && isEmpty(row[field.name])) return [];
    if (field.type.is !== 'object') return [field];
    const inner = field.type.fields
      .filter(({ name }) => isApplicable(applies, row, `${field.name}.${name}`))
      .map((one) => ({ ...one, help: helpFor(applies, `${field.name}.${one.name}`, one.help) }));
    return inner.length === 0 ? [] : [{ ...field, type: { is: 'object', fields: inner } }];
  });
}

/** The groups with the fields that apply to the object. */
export const applicable = (applies: Applies | undefined, row: Row, groups: readonly FieldGroup[]): FieldGroup[] =>
  groups.flatMap((group) => {
    const fields = applies ? fieldsFor(applies, row, group.fields) : group.fields;
    return fields.length === 0 ? [] : [{ ...group, fields }];
  });

/** The edits without values inside of objects that no longer apply, after the deciding field was changed. */
export function withoutOthers(applies: Applies | undefined, before: Row, edits: Row): Row {
  if (applies === undefined || !(applies.by in edits)) return edits;
  const row = { ...before, ...edits };
  const objects = new Set(Object.keys(applies.where).flatMap((path) => (path.includes('.') ? path.split('.', 1) : [])));
  const left = [...objects].flatMap((name): [string, Row][] => {
    const values = Object.entries(Object(row[name]));
    const own = values.filter(([inner]) => isApplicable(applies, row, `${name}.${inner}`));
    return own.length === values.length ? [] : [[name, Object.fromEntries(own)]];
  });
  return { ...edits, ...Object.fromEntries(left) };
}
