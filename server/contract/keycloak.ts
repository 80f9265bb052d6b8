// Realm exports of Keycloak 26, read as a realm document. Specification 4.2; decisions "Import, export, plan".
// features/operations/transfer/keycloak translates them.
import { z } from 'zod';
import { UNNAMED } from './declared-only.ts';
import { InRealm, text } from './names.ts';
import { route } from './route.ts';
import { ImportQuery, importRealm, ManagerName, Plan } from './transfer.ts';

export const NotCarried = z
  .object({
    kind: z.string().describe('Of what Keycloak has: realm, client, clientScope, mapper, flow, user, …'),
    key: z.string().describe('Its name there'),
    field: z.string().nullable().describe('Which field of it; null: the whole'),
    path: z
      .string()
      .nullable()
      .describe(
        'Where it stands in the file: clients[3].redirectUris[1]; null: at no one place, or the file doesn’t have it',
      ),
    file: z.int().nullable().describe('Which of a list of files, from 0; null: the body is one file'),
    why: z.string().describe('Why it was left out, or what is otherwise here'),
  })
  .meta({ id: 'NotCarried' });
export type NotCarried = z.infer<typeof NotCarried>;

export const KeycloakPlan = Plan.extend({
  notCarried: z.array(NotCarried).describe('What could not be carried over, item by item: the first 1,000'),
  notCarriedCount: z.int().describe('All of them'),
}).meta({ id: 'KeycloakPlan' });
export type KeycloakPlan = z.infer<typeof KeycloakPlan>;

const KeycloakFile = z
  .looseObject({
    realm: text(255).optional().describe('The realm’s name there'),
    users: z.array(z.looseObject({})).optional(),
  })
  .describe('A file of `kc.sh export`: a realm, its users, or both');

export const importKeycloak = route({
  method: 'POST',
  path: '/admin/realms/:realm/import/keycloak',
  operationId: 'importKeycloak',
  tag: 'transfer',
  summary: 'Plan and apply what Keycloak exported',
  description: [
    'The body is a file of `kc.sh export`, or a list of them: the realm’s first, then those of its users.',
    'It is read as a realm document and goes through the same import: rights, ownership, `dryRun`, `prune`, `force` and `If-Match` are as there, and so is the answer, with `notCarried` beside it:',
    'what has no counterpart here, item by item, and why. Nobody’s password is lost: hashes by PBKDF2, argon2 and bcrypt stay usable and are made anew at the next sign-in; so are one-time codes and the ids that applications know people by (`sub`).',
    'Secrets that an export hides (`**********`) are told in `notCarried`; those that are stored stay.',
    'Users of a file may be any number where they follow the realm’s own file; the rest, and users that come before it, together 32 MiB.',
  ].join(' '),
  permission: null,
  params: InRealm,
  query: ImportQuery.extend({
    manager: ManagerName.default(UNNAMED.keycloak).describe('Who applies'),
    from: text(255)
      .min(1)
      .optional()
      .describe('Which realm of the files; default: the one of this realm’s name, or the only one'),
  }),
  body: z.union([KeycloakFile, z.array(KeycloakFile)]),
  example: {
    realm: 'acme',
    displayName: 'Acme',
    roles: { realm: [{ name: 'editor' }] },
    users: [{ username: 'dora', enabled: true, realmRoles: ['editor'] }],
  },
  response: KeycloakPlan,
  problems: [...importRealm.problems],
});
