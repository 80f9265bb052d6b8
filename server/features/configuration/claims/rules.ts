// The rules for a claim that no single field's schema can check.
import { z } from 'zod';
import { claimFields, forgesRoles, reservedClaims, sessionFacts, userProperties } from '../../../contract/claims.ts';
import { type FieldError, unknownName } from '../../../contract/problem.ts';
import type { Sql } from '../../../db/sql.ts';
import { anothersResource, isAnothers, type RealmAt } from '../../../http/own-addresses.ts';
import { joinPaths } from '../../../resource/items.ts';
import type { Wanted } from '../../../resource/part.ts';

const Shape = z.object({ name: z.string(), ...claimFields });
const fault = (path: string, message: string): FieldError => ({ path, message });
const oneOf = (path: string, value: string | null, allowed: readonly string[]): FieldError[] =>
  value !== null && allowed.includes(value) ? [] : [fault(path, `must be one of ${allowed.join(', ')}`)];

const FORGED = {
  source: 'must be roles for realm_access, and clientRoles for resource_access',
  value: 'must be the client that the claim is below resource_access: none, or as resource_access.CLIENT says',
};

/** Faults of claims with a client's roles: the client must exist, or be created by these changes. */
export async function unknownClients(
  sql: Sql,
  realm: string,
  changes: readonly Wanted[],
  kind: string,
): Promise<FieldError[]> {
  const named = changes.flatMap(({ kind: of, action, changed, fields: { source, value }, path }) =>
    of === kind && action !== 'delete' && source === 'clientRoles' && typeof value === 'string' && value !== ''
      ? changed.includes('value') || changed.includes('source')
        ? [{ clientId: value, path: joinPaths(path, 'value') }]
        : []
      : [],
  );
  if (named.length === 0) return [];
  const clients = changes.filter((change) => change.kind === 'client');
  const known = new Set(clients.filter(({ action }) => action !== 'delete').map(({ key }) => key));
  const gone = new Set(
    clients.flatMap(({ action, key, renamedFrom }) => (action === 'delete' ? key : (renamedFrom ?? []))),
  );
  const there = await sql<{ clientId: string }>`
    select client_id as "clientId" from client
    where realm_id = ${realm} and client_id = any(${named.map(({ clientId }) => clientId)}::text[])`;
  for (const { clientId } of there) if (!gone.has(clientId)) known.add(clientId);
  return named.flatMap(({ clientId, path }) => (known.has(clientId) ? [] : [unknownName(path, 'client', clientId)]));
}

export function claimFaults(given: object, at: RealmAt): FieldError[] {
  const shape = Shape.safeParse(given);
  if (!shape.success) return [];
  const { name, claim, source, attribute, value, jsonType } = shape.data;
  if (source === 'audience') {
    if (value === null || value === '') return [fault('value', 'must name the audience of the token')];
    return isAnothers(value, at) ? [fault('value', anothersResource(value))] : [];
  }
  const said = claim ?? name;
  const path = claim === null ? 'name' : 'claim';
  const forged = forgesRoles(said, source, value);
  return [
    ...(reservedClaims.has(said.split('.')[0] ?? '') ? [fault(path, 'is a claim that the server itself sets')] : []),
    ...(forged === undefined ? [] : [fault(forged, FORGED[forged])]),
    ...(/\p{Cf}/u.test(said) ? [fault(path, 'must not contain invisible or direction characters')] : []),
    ...(source === 'property' ? oneOf('attribute', attribute, userProperties) : []),
    ...(source === 'organization' && jsonType !== 'string' && jsonType !== 'json'
      ? [fault('jsonType', 'must be string or json for organizations')]
      : []),
    ...(source === 'session' ? oneOf('attribute', attribute, sessionFacts) : []),
    ...(source === 'constant' && value === null ? [fault('value', 'is needed for a constant')] : []),
    ...(source === 'constant' && value !== null && !readsAs(jsonType, value)
      ? [fault('value', `is no ${jsonType}`)]
      : []),
  ];
}

function readsAs(jsonType: z.infer<typeof claimFields.jsonType>, value: string): boolean {
  if (jsonType === 'number') return value.trim() !== '' && Number.isFinite(Number(value));
  if (jsonType === 'boolean') return value === 'true' || value === 'false';
  if (jsonType === 'string') return true;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
