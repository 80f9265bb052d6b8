// Owns: the types of rich authorization requests, as administrators configure them: their schemas and words.
// Does not own: their fields and routes (contract/authorization-detail-types.ts), requests (features/protocol/authorization-details).
// Implements: decisions "Authorization detail type"; RFC 9396 §2.
import { authorizationDetailTypes, DETAIL_PLACEHOLDER } from '../../../contract/authorization-detail-types.ts';
import type { FieldError } from '../../../contract/problem.ts';
import { hasField, loadDetailSchemas, schemaFault } from '../../../domain/detail-schema.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';
import { joinPaths } from '../../../resource/items.ts';
import type { Fields } from '../../../resource/part.ts';

/** Fields of every detail, which no schema names. */
const COMMON = new Set(['type', 'locations']);

function faults({ schema, words }: Fields): FieldError[] {
  const fault = schemaFault(Object(schema));
  if (fault) return [{ path: joinPaths('schema', fault.path), message: fault.message }];
  return Object.entries<unknown>(Object(words)).flatMap(([language, said]) =>
    [...String(said).matchAll(new RegExp(DETAIL_PLACEHOLDER, 'g'))].flatMap(([, path = '']) =>
      COMMON.has(path) || hasField(schema, path.split('.'))
        ? []
        : [{ path: `words.${language}`, message: `has the placeholder {${path}}, which the schema has no field for` }],
    ),
  );
}

export const authorizationDetailTypesResource = (deps: ResourceDeps) =>
  declaredResource(
    authorizationDetailTypes,
    {
      async whole(_, __, changes) {
        const mine = changes.filter(({ kind, action }) => kind === 'authorizationDetailType' && action !== 'delete');
        if (mine.length > 0) await loadDetailSchemas();
        return mine.flatMap(({ path, fields }) =>
          faults(fields).map((fault) => ({ ...fault, path: joinPaths(path, fault.path) })),
        );
      },
      keyStays: 'grants and clients name it; make another type instead',
      keptWhileNamed: true,
      dependents: (sql, realm, removed) => sql<{ kind: string; key: string; on: string; field: string }>`
        select 'client' as kind, c.client_id as key, n.type as on, 'authorizationDetailsTypes' as field
        from client c cross join lateral unnest(c.authorization_details_types) as n (type)
        where c.realm_id = ${realm} and n.type = any(${removed}::text[])`,
      detail: ({ enabled, clientCredentials, openToRegistration }) => ({
        enabled,
        clientCredentials,
        openToRegistration,
      }),
    },
    deps,
  );
