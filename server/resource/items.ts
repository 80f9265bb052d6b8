// Parses a realm document's objects, with their place in it, into one canonical form.
// features/operations/transfer plans and applies them. Specification 2.10.
import type { z } from 'zod';
import type { FieldError } from '../contract/problem.ts';
import { type Fragment, fragment } from '../db/sql.ts';
import { fieldErrors } from '../http/problems.ts';

export type Fields = Readonly<Record<string, unknown>>;

/** One declared object in the part's canonical form, with its natural key apart. */
export interface Item {
  key: string;
  fields: Fields;
  /** Its path: `clients[3]`. */
  path: string;
}

export type Parsed = { items: Item[]; errors?: never } | { errors: FieldError[]; items?: never };

/** Makes a part's `parse` from a schema. Its field errors name their place in the document. */
export const parsing =
  <S extends z.ZodType>(schema: S, items: (value: z.output<S>, path: string) => Item[]) =>
  (value: unknown, path: string): Parsed => {
    const result = schema.safeParse(value);
    return result.success ? { items: items(result.data, path) } : { errors: issuesAt(path, result.error) };
  };

/** Field errors of zod's issues, with paths below `path`. */
export const issuesAt = (path: string, error: z.ZodError): FieldError[] =>
  error.issues.flatMap((issue) =>
    fieldErrors({
      code: issue.code,
      path: issue.path.map((p) => (typeof p === 'symbol' ? p.toString() : p)),
      message: issue.message,
      ...(issue.code === 'unrecognized_keys' ? { keys: issue.keys } : {}),
    }).map((fault) => ({ path: joinPaths(path, fault.path), message: fault.message })),
  );

/** `clients[3]` and `secret` → `clients[3].secret`. */
export const joinPaths = (path: string, rest: string): string =>
  rest === '' ? path : path === '' ? rest : rest.startsWith('[') ? path + rest : `${path}.${rest}`;

/** The top-level field in a path below an object: `config.issuer`, `domains[0]`. */
export const topField = (path: string): string => path.split(/[.[]/)[0] ?? '';

/** The list as a set: sorted, without duplicates; undefined stays undefined. */
export const asSet = <T extends string>(list: readonly T[] | undefined): T[] | undefined =>
  list && [...new Set(list)].sort();

/** The texts of a list; empty if the value is no list. */
export const strings = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((v): v is string => typeof v === 'string') : [];

/** Drops undefined values, so that an undeclared field is absent. */
export const withoutUndefined = (fields: Record<string, unknown>): Fields =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** A client role's key: `clientId/role`. `/` and `%` in the clientId are escaped, so that keys are unique. */
export const clientRoleKey = (clientId: string, role: string): string =>
  `${clientId.replaceAll('%', '%25').replaceAll('/', '%2F')}/${role}`;
/** The key's part before the role's name, in SQL. @param clientId as SQL; null gives null */
export const clientRolePrefix = (clientId: Fragment): Fragment =>
  fragment`replace(replace(${clientId}, '%', '%25'), '/', '%2F') || '/'`;
/** The client id and the role name in a key; the reverse of `clientRoleKey`. */
export const splitClientRoleKey = (key: string): { clientId: string; role: string } => {
  const at = key.indexOf('/');
  return { clientId: key.slice(0, at).replaceAll('%2F', '/').replaceAll('%25', '%'), role: key.slice(at + 1) };
};
