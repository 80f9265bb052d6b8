// Placeholders in a document: an import resolves them, an export writes them in place of stored secrets.
// resource/secrets.ts compares secrets; the features encrypt and hash them. Decisions "Import, export, plan" (Secrets
// in a document).
import { createHash } from 'node:crypto';
import { isHttpsAddress } from '../../../contract/names.ts';
import type { Area } from '../../../contract/permissions.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { Problem } from '../../../contract/problem.ts';
import { MASTER } from '../../../contract/realms.ts';
import type { KeptSecret } from '../../../contract/transfer.ts';
import type { Principal } from '../../../domain/principal.ts';
import {
  type Existing,
  type Fields,
  type Item,
  isStoredSecret,
  type PlannedChange,
  type RealmPart,
} from '../../../resource/part.ts';
import { holdsAll } from '../../../resource/rights.ts';
import { KeepsSecret } from '../../../resource/secrets.ts';

const PLACEHOLDER = /^\$\{(SVC_VAR_[A-Z0-9_]+)\}$/;
const LOOKS_LIKE_ONE = /^\$\{[^}]*\}$/;

/** Whether any object of a section declares a secret's value. */
export const declaresSecret = ({ part, items }: { part: RealmPart; items: readonly Item[] }): boolean =>
  items.some(
    ({ fields }) =>
      (part.secrets?.some((field) => typeof fields[field] === 'string') ?? false) ||
      namesBeside(part, fields).length > 0,
  );

interface PlaceOfText {
  field: string;
  value: string;
  allowed: boolean;
}

/** The texts of an object's fields, and those of its nested objects, that may contain placeholders. */
const places = (
  { placeholders = [] }: RealmPart,
  fields: Fields,
  secrets: ReadonlySet<string> = new Set(),
): PlaceOfText[] =>
  Object.entries(fields).flatMap(([field, value]): PlaceOfText[] => {
    if (typeof value === 'string') return [{ field, value, allowed: secrets.has(field) }];
    if (!placeholders.some((path) => path.startsWith(`${field}.`))) return [];
    return Object.entries(Object(value)).flatMap(([inner, text]): PlaceOfText[] => {
      const path = `${field}.${inner}`;
      return typeof text === 'string' ? [{ field: path, value: text, allowed: placeholders.includes(path) }] : [];
    });
  });

/** The names of an object's placeholders outside of its secrets. */
const namesBeside = (part: RealmPart, fields: Fields): string[] =>
  places(part, fields).flatMap(({ value, allowed }) => (allowed && PLACEHOLDER.exec(value)?.[1]) || []);

/**
 * Replaces placeholders by values of the environment; only names `SVC_VAR_…` are looked up.
 * All realms share the server's environment. So a placeholder is looked up only for a principal that may write such an
 * object in every realm: else an administrator of one realm could use another's secret. Others don't learn which names exist.
 * Outside secrets a placeholder stays, because the value could be read there. It must be an address, and is looked up when
 * a request is sent to it. A placeholder without a value means the stored secret, if there is one. A principal that may not
 * write the section only gets a plan, without a comparison of secrets: that would confirm a guess.
 * @throws Problem `forbidden` and `missing-environment` with all missing names, if no secret can be stored;
 *   `invalid-request` for any other `${…}`
 */
export function resolveSecrets(
  sections: readonly { part: RealmPart; items: Item[] }[],
  {
    environment,
    principal,
    mayWrite,
  }: {
    environment: Readonly<Record<string, string>>;
    principal: Principal;
    mayWrite: (area: Area) => boolean;
  },
): void {
  const missing: Missing[] = [];
  const faults: FieldError[] = [];
  for (const { part, items } of sections) {
    const secrets = new Set(part.secrets ?? []);
    const writes = mayWrite(part.area);
    const looksUp = holdsAll(principal, '*', [`${part.area}:write`]);
    for (const [i, item] of items.entries()) {
      const resolved: Record<string, unknown> = {};
      for (const { field, value, allowed } of places(part, item.fields, secrets)) {
        const secret = secrets.has(field);
        if (!LOOKS_LIKE_ONE.test(value)) {
          if (secret && !writes) resolved[field] = new KeepsSecret('notCompared', undefined, { planned: true });
          continue;
        }
        const path = `${item.path}.${field}`;
        const name = PLACEHOLDER.exec(value)?.[1];
        if (!allowed) {
          if (name) faults.push({ path, message: 'a placeholder can stand only where a secret does' });
        } else if (!name)
          faults.push({ path, message: 'must be a literal, or a placeholder named SVC_VAR_… (A-Z, 0-9, _)' });
        else if (!looksUp) {
          if (!secret) throw notLookedUp(path, part);
          resolved[field] = new KeepsSecret('notCompared', name, { planned: !writes });
        } else if (environment[name] !== undefined && Object.hasOwn(environment, name)) {
          if (secret) resolved[field] = environment[name];
          else if (!isHttpsAddress(environment[name]))
            faults.push({ path, message: `the variable ${name} is no absolute https address` });
        } else if (secret) resolved[field] = new KeepsSecret('variableNotSet', name);
        else missing.push({ path, name });
      }
      if (Object.keys(resolved).length > 0) items[i] = { ...item, fields: { ...item.fields, ...resolved } };
    }
  }
  if (faults.length > 0) throw new Problem('invalid-request', undefined, { errors: faults });
  refuseMissing(missing);
}

interface Missing {
  path: string;
  name: string;
}

function notLookedUp(path: string, { area }: RealmPart): Problem {
  const permission = `${area}:write` as const;
  return new Problem(
    'forbidden',
    `${path}: a placeholder needs the permission ${permission} over every realm, which users and clients of ${MASTER} can hold; send the value itself`,
    { extra: { permission } },
  );
}

function refuseMissing(missing: readonly Missing[]): void {
  if (missing.length === 0) return;
  const names = [...new Set(missing.map(({ name }) => name))].sort();
  throw new Problem('missing-environment', `The server's environment lacks ${names.join(', ')}`, {
    errors: missing.map(({ path, name }) => ({ path, message: `the server has no variable ${name}` })),
    extra: { missing: names },
  });
}

/**
 * Refuses secrets that are to be stored and have no value.
 * @throws Problem `forbidden`, `missing-environment` with all missing names
 */
export function refuseValueless(parts: readonly RealmPart[], changes: readonly PlannedChange[], dryRun: boolean): void {
  const kinds = new Map(parts.map((part) => [part.kind, part]));
  const missing: Missing[] = [];
  for (const { kind, path: at, fields } of changes)
    for (const { path: field, to } of fields) {
      const part = kinds.get(kind);
      if (!part || !(to instanceof KeepsSecret) || to.variable === undefined) continue;
      const path = `${at}.${field}`;
      if (to.because === 'variableNotSet') missing.push({ path, name: to.variable });
      else if (!dryRun) throw notLookedUp(path, part);
    }
  refuseMissing(missing);
}

/** Declared secrets of a section that keep their stored values. */
export const keptSecrets = (
  { kind, secrets = [] }: RealmPart,
  items: readonly Item[],
  current: ReadonlyMap<string, Existing>,
): KeptSecret[] =>
  items.flatMap(({ key, fields }) =>
    secrets.flatMap((path) => {
      const wanted = fields[path];
      if (!(wanted instanceof KeepsSecret) || !isStoredSecret(current.get(key)?.fields[path])) return [];
      const { because, variable } = wanted;
      return [{ kind, key, path, because, ...(variable !== undefined && { variable }) }];
    }),
  );

/**
 * The name of a secret's placeholder in an export: the same for the same object in every realm, and never the same for
 * two. A key of lower-case words joined by `-` is written in capitals; any other gets a digest, behind two underscores
 * that a plain one can't have.
 */
function placeholderName(kind: string, key: string, field: string): string {
  const plain = key.toUpperCase().replaceAll(/[^A-Z0-9]+/g, '_');
  const unique = /^[a-z0-9]+(-[a-z0-9]+)*$/.test(key)
    ? plain
    : `${plain.replaceAll(/^_+|(?<!_)_+$/g, '').slice(0, 60)}__${createHash('sha256').update(key).digest('hex').slice(0, 16).toUpperCase()}`;
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
  for (const name of namesBeside(part, fields)) names.add(name);
  return out;
}
