// A search over everything that the caller may see: realms, and users, clients, groups, roles and organizations of all of
// them. Decisions "Search".
import { z } from 'zod';
import { RealmName, text } from './names.ts';
import { route } from './route.ts';

export const searchKinds = ['realm', 'user', 'client', 'group', 'role', 'organization'] as const;
export const SearchKind = z.enum(searchKinds);
export type SearchKind = z.infer<typeof SearchKind>;

export const SearchHit = z
  .object({
    kind: SearchKind,
    realm: z.string(),
    id: z.string().describe('The object’s id; of a realm its name'),
    name: z.string().describe('The username, the clientId, the path, the name'),
    detail: z
      .string()
      .nullable()
      .describe('The e-mail address of a user, the display name of others, the clientId of a client role'),
    exact: z.boolean().describe('The text is the whole name, address or id'),
  })
  .meta({ id: 'SearchHit' });
export type SearchHit = z.infer<typeof SearchHit>;

export const SearchResult = z
  .object({
    hits: z.array(SearchHit).describe('By kind; exact ones first'),
    more: z.array(SearchKind).describe('Kinds with more hits than `limit`'),
    notSearched: z
      .array(SearchKind)
      .describe('Kinds that this database can search only in one realm (it lacks `pg_trgm`): say `realm`'),
  })
  .meta({ id: 'SearchResult' });
export type SearchResult = z.infer<typeof SearchResult>;

export const search = route({
  method: 'GET',
  path: '/admin/search',
  operationId: 'search',
  tag: 'search',
  summary: 'Find realms, users, clients, groups, roles and organizations',
  description:
    'By name, e-mail address, display name or id, in all realms or one. Each kind is searched where the caller holds its read permission; an administrator of single groups or clients finds those. A text of three characters or more is found anywhere in a name where the database has the extension `pg_trgm`, otherwise at its beginning; a shorter text finds whole names.',
  permission: null,
  query: z.strictObject({
    q: text(255).trim().min(1).describe('The text, whatever its case'),
    realm: RealmName.optional().describe('Only in this realm'),
    kinds: text(100)
      .transform((value) => value.split(',').map((one) => one.trim()))
      .pipe(z.array(SearchKind).min(1))
      .optional()
      .describe('Only these kinds, separated by commas'),
    limit: z.coerce.number().int().min(1).max(50).default(10).describe('At most this many hits of each kind'),
  }),
  response: SearchResult,
});
