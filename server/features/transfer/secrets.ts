// Placeholders in a document: resolved on the way in, written in place of stored secrets on the way out.
// Comparing secrets is resource/secrets.ts's, sealing and hashing the features'. Decisions "Import, export, plan" (Secrets in a document).
import { createHash } from 'node:crypto';
import type { FieldError } from '../../contract/problem.ts';
import { Problem } from '../../contract/problem.ts';
import { MASTER } from '../../contract/realms.ts';
import type { Principal } from '../../domain/principal.ts';
import { type Fields, type Item, isStoredSecret, type RealmPart } from '../../resource/part.ts';
import { holdsAll } from '../../resource/rights.ts';

const PLACEHOLDER = /^\$\{(SVC_VAR_[A-Z0-9_]+)\}$/;
const LOOKS_LIKE_ONE = /^\$\{[^}]*\}$/;

/** Whether any object of a section says what its secret is. */
export const declaresSecret = ({ part, items }: { part: RealmPart; items: readonly Item[] }): boolean =>
  items.some(
    ({ fields }) =>
      (part.secrets?.some((field) => typeof fields[field] === 'string') ?? false) || hasPlaceholder(part, fields),
  );

interface PlaceOfText {
  field: string;
  value: string;
  allowed: boolean;
  put(into: Record<string, unknown>, found: string): void;
}

/** Texts of an object's fields, and of those objects that may hold placeholders. */
function places({ placeholders = [] }: RealmPart, fields: Fields, secrets: ReadonlySet<string>): PlaceOfText[] {
  return Object.entries(fields).flatMap(([field, value]): PlaceOfText[] => {
    if (typeof value === 'string') {
      const put: PlaceOfText['put'] = (into, found) => {
        into[field] = found;
      };
      return [{ field, value, allowed: secrets.has(field), put }];
    }
    if (!placeholders.includes(field)) return [];
    return Object.entries(Object(value)).flatMap(([inner, text]): PlaceOfText[] => {
      const put: PlaceOfText['put'] = (into, found) => {
        into[field] = { ...Object(into[field] ?? value), [inner]: found };
      };
      return typeof text === 'string' ? [{ field: `${field}.${inner}`, value: text, allowed: true, put }] : [];
    });
  });
}

/** Whether an object has a placeholder beside its secrets. */
const hasPlaceholder = (part: RealmPart, fields: Fields): boolean =>
  places(part, fields, new Set()).some(({ value, allowed }) => allowed && PLACEHOLDER.test(value));

/**
 * Puts the environment's values in place of placeholders; only names `SVC_VAR_…` are ever looked up.
 * The environment is the server's, shared by all realms: only who may write such an object in every realm may have it
 * looked up, or one realm's administrators could use another's secret. Nobody else learns which names there are.
 * @throws Problem `forbidden`, `missing-environment` with all missing names, `invalid-request` for anything else in `${…}`
 */
export function resolvePlaceholders(
  sections: readonly { part: RealmPart; items: Item[] }[],
  { environment, principal }: { environment: Readonly<Record<string, string>>; principal: Principal },
): void {
  const missing = new Map<string, string>();
  const faults: FieldError[] = [];
  for (const { part, items } of sections) {
    const secrets = new Set(part.secrets ?? []);
    const permission = `${part.area}:write` as const;
    for (const [i, item] of items.entries()) {
      const resolved: Record<string, unknown> = {};
      for (const { field, value, put, allowed } of places(part, item.fields, secrets)) {
        if (!LOOKS_LIKE_ONE.test(value)) continue;
        const path = `${item.path}.${field}`;
        const name = PLACEHOLDER.exec(value)?.[1];
        if (!allowed) {
          if (name) faults.push({ path, message: 'a placeholder can stand only where a secret does' });
        } else if (!name)
          faults.push({ path, message: 'must be a literal, or a placeholder named SVC_VAR_… (A-Z, 0-9, _)' });
        else if (!holdsAll(principal, '*', [permission]))
          throw new Problem(
            'forbidden',
            `${path}: a placeholder needs the permission ${permission} over every realm, which users and clients of ${MASTER} can hold; send the value itself`,
            { extra: { permission } },
          );
        else if (environment[name] === undefined || !Object.hasOwn(environment, name)) missing.set(path, name);
        else put(resolved, environment[name]);
      }
      if (Object.keys(resolved).length > 0) items[i] = { ...item, fields: { ...item.fields, ...resolved } };
    }
  }
  if (faults.length > 0) throw new Problem('invalid-request', undefined, { errors: faults });
  if (missing.size === 0) return;
  const names = [...new Set(missing.values())].sort();
  throw new Problem('missing-environment', `The server's environment lacks ${names.join(', ')}`, {
    errors: [...missing].map(([path, name]) => ({ path, message: `the server has no variable ${name}` })),
    extra: { missing: names },
  });
}

/**
 * The name of a secret's placeholder in an export: the same for the same object in every realm, and never the same for
 * two. A key of lower-case words joined by `-` is written in capitals; any other gets a digest, behind two underscores
 * that a plain one can't have.
 */
function placeholderName(kind: string, key: string, field: string): string {
  const plain = key.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const unique = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(key)
    ? plain
    : `${plain.replaceAll(/^_+|_+$/g, '').slice(0, 60)}__${createHash('sha256').update(key).digest('hex').slice(0, 16).toUpperCase()}`;
  return `SVC_VAR_${kind.toUpperCase()}_${unique}_${field.toUpperCase()}`;
}

/** An export's fields: placeholders where a secret is stored; their names go to `names`. */
export function withPlaceholders(part: RealmPart, key: string, fields: Fields, names: Set<string>): Fields {
  const out: Record<string, unknown> = { ...fields };
  for (const field of part.secrets ?? []) {
    if (isStoredSecret(fields[field])) {
      const name = placeholderName(part.kind, key, field);
      names.add(name);
      out[field] = `\${${name}}`;
    } else delete out[field];
  }
  return out;
}
