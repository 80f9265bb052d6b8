// Builds the resource for a target from a user or a group: as this server's own SCIM API shows it, changed by the
// target's mappings. Pure.
import { createHash } from 'node:crypto';
import { GROUP, USER } from '../../../contract/scim.ts';
import { shownGroupPath } from '../../../domain/group-names.ts';
import type { Values } from './body.ts';
import { keysOf } from './user-attributes.ts';
import type { ScimUserRow } from './user-store.ts';

const RIGHTS = ['roles', 'entitlements'];
/**
 * Attributes that only this server assigns, and roles and entitlements. A target would refuse them, or mistake them for
 * its own.
 */
const OURS = ['id', 'meta', 'groups', ...RIGHTS, 'externalId'];
const FIELDS = ['username', 'email', 'firstName', 'lastName', 'id'] as const;
const CONSTANT = /^"(.*)"$/s;

/** A mapping's value: a constant in quotation marks, a user field, `attributes.name`, else a SCIM attribute; empty: none. */
function sourced(source: string, row: ScimUserRow, resource: Values): unknown {
  const [, constant] = CONSTANT.exec(source) ?? [];
  if (constant !== undefined) return constant;
  const fields: Record<(typeof FIELDS)[number], string | null> = {
    username: row.username,
    email: row.email,
    firstName: row.first_name,
    lastName: row.last_name,
    id: row.id,
  };
  const field = FIELDS.find((name) => name === source);
  if (field) return fields[field] ?? undefined;
  if (source.startsWith('attributes.')) {
    const name = source.slice('attributes.'.length);
    return Object.hasOwn(row.attributes, name) ? row.attributes[name]?.[0] : undefined;
  }
  return keysOf(source).reduce<unknown>(
    (value, key) => (Object.hasOwn(Object(value), key) ? Object(value)[key] : undefined),
    resource,
  );
}

/** A copy with the value at these keys; undefined: without that key. */
function withValue(of: Values, [key = '', ...rest]: readonly string[], value: unknown): Values {
  const inner =
    rest.length === 0 ? value : withValue({ ...Object(Object.hasOwn(of, key) ? of[key] : {}) }, rest, value);
  const others = Object.entries(of).filter(([name]) => name !== key);
  return Object.fromEntries(inner === undefined ? others : [...others, [key, inner]]);
}

/** @param resource as this server's own SCIM API shows it */
export function userBody(row: ScimUserRow, resource: Values, mappings: Readonly<Record<string, string>>): Values {
  const own = Object.fromEntries(Object.entries(resource).filter(([name]) => !OURS.includes(name)));
  const body = Object.entries(mappings).reduce<Values>(
    (all, [path, source]) => {
      const found = sourced(source, row, resource);
      // An explicit empty list: some servers leave an omitted attribute as it is.
      const value = found === undefined && source !== '' && RIGHTS.includes(path) ? [] : found;
      return path === 'emails'
        ? withValue(all, ['emails'], value === undefined ? undefined : [{ value, type: 'work', primary: true }])
        : withValue(all, keysOf(path), value);
    },
    { ...own, externalId: row.id },
  );
  // `schemas` names an extension only if the body has attributes of it.
  const extensions = Object.keys(body).filter((name) => name.startsWith('urn:'));
  return { ...body, schemas: [USER, ...extensions] };
}

export const groupBody = (id: string, path: string): Values => ({
  schemas: [GROUP],
  displayName: shownGroupPath(path).slice(1),
  externalId: id,
});

/** SHA-256 as hex; the order of keys doesn't matter. */
export const digestOf = (body: Values): string =>
  createHash('sha256')
    .update(JSON.stringify(Object.fromEntries(Object.entries(body).sort(([a], [b]) => (a < b ? -1 : 1)))))
    .digest('hex');
