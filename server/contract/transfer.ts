// The realm document and the plan: the format of import, export, the operator and the CLI. Specification 2.10;
// decisions "Import, export, plan". Only features/operations/transfer compares.

import { z } from 'zod';
import { UNNAMED } from './declared-only.ts';
import { EpochMs, InRealm, name, Page, RealmName } from './names.ts';
import { route } from './route.ts';
import { collectionOf, type Later, type Section } from './section.ts';
import { type SectionKey, type Sections, sections } from './sections.ts';

export const FORMAT_VERSION = 2;

/** The sections that specification 2.10 names. An export has others only where they hold something. */
const specified: ReadonlySet<string> = new Set<SectionKey>([
  'adminRoles',
  'agents',
  'applications',
  'authorizationServices',
  'clientProtocolMappers',
  'clientRoles',
  'clientScopes',
  'clients',
  'flows',
  'groups',
  'identityProviders',
  'messageTemplates',
  'messagingProviders',
  'organizations',
  'realm',
  'resourceIndicators',
  'roles',
  'samlClients',
  'scimTargets',
  'serviceAccountRoles',
  'users',
  'webhooks',
  'workloadIdentity',
]);
export const furtherSections: ReadonlySet<string> = new Set(Object.keys(sections).filter((key) => !specified.has(key)));

/**
 * Sections of a later release: exported empty, and refused if they contain anything, so that no data is lost silently.
 */
const later = z.array(z.unknown()).max(0, 'is not supported by this version of the server yet');

type SchemaOf<S> = S extends 'later'
  ? typeof later
  : S extends { document: infer Whole }
    ? Whole
    : S extends { shape: 'object'; element: infer One }
      ? One
      : S extends {
            groups: { by: infer By extends string; list: infer List extends string };
            element: infer E extends z.ZodType;
          }
        ? z.ZodArray<z.ZodObject<Record<By, z.ZodString> & Record<List, z.ZodArray<E>>>>
        : S extends { shape: 'map'; element: infer E extends z.ZodType }
          ? z.ZodRecord<z.ZodString, z.ZodArray<E>>
          : S extends { element: infer E extends z.ZodType }
            ? z.ZodArray<E>
            : never;

function schemaOf(section: Section | Later): z.ZodType {
  if (section === 'later') return later;
  const { document, shape, groups, element, most, mostOfEach } = section;
  if (document) return document;
  return shape === 'object' ? element : collectionOf(element, { shape, groups, most, mostOfEach });
}

/** Every section by key; each is optional, and an absent one stays unchanged. */
const schemas = Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, schemaOf(section)])) as {
  [Name in SectionKey]: SchemaOf<Sections[Name]>;
}; // the table's types, which entries lose

export const RealmDocument = z
  .strictObject({
    formatVersion: z.literal(FORMAT_VERSION, `must be ${FORMAT_VERSION}`).optional(),
    requiredEnv: z
      .array(z.string())
      .optional()
      .describe('Environment variables that the placeholders need; informative on import'),
    ...schemas,
  })
  .partial()
  .meta({ id: 'RealmDocument' });
export type RealmDocument = z.infer<typeof RealmDocument>;

export const FieldChange = z.object({ path: z.string(), from: z.unknown(), to: z.unknown() });
export const Change = z.object({
  action: z.enum(['create', 'update', 'delete']),
  kind: z.string().describe('settings, client, flow, webhook, role, …'),
  key: z.string().describe('The natural key; a client role’s is `clientId/role`'),
  fields: z.array(FieldChange).describe('Secrets are shown as ***'),
});
export type Change = z.infer<typeof Change>;
export const Conflict = z.object({
  kind: z.string(),
  key: z.string(),
  path: z.string().optional(),
  manager: z.string().describe('Who owns it'),
});
export type Conflict = z.infer<typeof Conflict>;
export const OwnershipMove = z.object({
  action: z
    .enum(['take', 'release', 'fields'])
    .describe(
      'take: created, adopted or taken over; fields: the document declares other fields than before, or none any more of what is kept',
    ),
  kind: z.string(),
  key: z.string(),
  from: z.string().optional().describe('The manager that it was taken from, by force'),
  declares: z
    .array(z.string())
    .optional()
    .describe('In a plan: the fields of the document that the manager it is taken from declares too'),
});
export type OwnershipMove = z.infer<typeof OwnershipMove>;
export const KeptObject = z.object({
  kind: z.string(),
  key: z.string(),
  usedBy: z
    .array(z.object({ kind: z.string(), key: z.string(), path: z.string().optional() }))
    .describe('At most 100, and only what the importer may read'),
});
export type KeptObject = z.infer<typeof KeptObject>;
export const HeldChange = Change.extend({
  path: z.string().optional().describe('Of what is owned by field: the field'),
  hold: z.object({
    id: z.uuid(),
    reason: z.string(),
    by: z.string().nullable().describe('The name of the administrator who placed it; null: erased'),
    until: EpochMs,
  }),
});
export type HeldChange = z.infer<typeof HeldChange>;
export const Deletion = z.object({
  kind: z.string(),
  count: z.int(),
  of: z.int().optional().describe('How many of the kind there are; not counted of users'),
});
export type Deletion = z.infer<typeof Deletion>;
export const Warning = z.object({ kind: z.string(), key: z.string(), message: z.string() });
export type Warning = z.infer<typeof Warning>;
export const Consequence = z.object({
  kind: z.string(),
  key: z.string().describe('`*`: of several users together'),
  path: z.string().optional(),
  message: z.string().describe('What the change does to who uses the realm now, in words'),
  locksOut: z.boolean().describe('Somebody who gets in now will not'),
  sessions: z.int().describe('Live sessions that it touches; of each client, role or realm at most 10,000 are counted'),
  people: z.int().describe('People whom it touches: of those sessions, with refresh tokens, or who hold the role'),
  clients: z
    .int()
    .describe('Clients that it touches and somebody is signed in to, or whose service account holds the role'),
});
export type Consequence = z.infer<typeof Consequence>;
export const KeptSecret = z.object({
  kind: z.string(),
  key: z.string(),
  path: z.string().describe('The field'),
  because: z
    .enum(['variableNotSet', 'notCompared', 'notRecorded'])
    .describe(
      'variableNotSet: the server has no variable of the placeholder’s name; notCompared: the importer may have neither a variable looked up nor, in a dry run without the section’s write permission, a value compared; notRecorded: a plan that is undone has recorded neither secrets nor fields that name people',
    ),
  variable: z.string().optional().describe('The placeholder’s name'),
});
export type KeptSecret = z.infer<typeof KeptSecret>;
export const Plan = z
  .object({
    manager: z.string(),
    revision: z.int().describe('Of the realm: after applying, or as planned against; 0: it does not exist yet'),
    changes: z.array(Change),
    ownership: z.array(OwnershipMove).describe('What changes hands; users are counted in the summary’s text alone'),
    conflicts: z.array(Conflict).describe('In a dry run; otherwise a conflict is a 409 that lists them'),
    kept: z
      .array(KeptObject)
      .default([])
      .describe('What pruning would delete and something still needs: it goes once nothing does, with the next import'),
    held: z
      .array(HeldChange)
      .default([])
      .describe('What differs and stays as it is while a hold stands; it is changed with the first import after that'),
    undeclared: z
      .array(z.object({ kind: z.string(), key: z.string(), path: z.string().optional() }))
      .default([])
      .describe(
        'In a dry run without prune: what this manager applied before and this document doesn’t hold. It stays as it is and the manager’s',
      ),
    undeclaredUsers: z
      .object({ count: z.int(), usernames: z.array(z.string()) })
      .default({ count: 0, usernames: [] })
      .describe(
        'The same of users, who are named where they are fewer than 20; prune deletes them where the document holds `users`. Where it holds none, at most 10000 are counted',
      ),
    deletions: z.array(Deletion).default([]).describe('In a dry run: what would be deleted, by kind'),
    warnings: z
      .array(Warning)
      .default([])
      .describe('What is declared, and taken, and will not work as it is: a client without the secret that it needs'),
    consequences: z
      .array(Consequence)
      .default([])
      .describe(
        'In a dry run, for who holds sessions:read: whom the changes touch, those that lock somebody out first; at most 50',
      ),
    keptSecrets: z
      .array(KeptSecret)
      .default([])
      .describe('Declared secrets that stay as they are stored, whatever they are'),
    inSync: z
      .boolean()
      .describe(
        'Nothing to change, nothing to take or release, no conflict: applying writes nothing. What is held does not count',
      ),
    summary: z.object({ create: z.int(), update: z.int(), delete: z.int(), text: z.string().describe('In words') }),
  })
  .meta({ id: 'Plan' });
export type Plan = z.infer<typeof Plan>;

/** `import`, `cli:ana`, `k8s:<cluster>/<namespace>/<kind>/<name>`. */
export const ManagerName = name(500).regex(/^[A-Za-z0-9:/._@-]+$/, 'may hold letters, digits and : / . _ @ -');

const flag = z.stringbool();
export const ImportQuery = z.strictObject({
  dryRun: flag.default(false).describe('Answer the plan without writing'),
  manager: ManagerName.default(UNNAMED.realm).describe(
    'Who applies. To a section that is declared only, an import that names no manager is a change by hand',
  ),
  prune: flag.default(false).describe('Delete what this manager applied before and the document no longer holds'),
  force: flag.default(false).describe('Take over what another manager owns'),
});
export type ImportQuery = z.infer<typeof ImportQuery>;

const tag = 'transfer';
export const exportRealm = route({
  method: 'GET',
  path: '/admin/realms/:realm/export',
  operationId: 'exportRealm',
  tag,
  summary: 'Export the realm: complete, byte-stable, without secrets; ETag is the configuration revision',
  description:
    'Needs the read permission of every section it holds. Credentials are never exported; a secret is written as a placeholder, and `requiredEnv` ' +
    'lists the names. `If-None-Match` with the revision answers 304 where users are left out (their changes do not raise the revision).',
  permission: 'realm:read',
  params: InRealm,
  query: z.strictObject({
    users: flag.default(true).describe('false leaves users out'),
    defaults: flag
      .default(true)
      .describe(
        'false leaves out what a fresh realm, or a new object, has anyway: sections, objects and fields. What a fresh realm has and this one has deleted comes back where such a document makes a realm',
      ),
  }),
  response: RealmDocument,
});
export const importRealm = route({
  method: 'POST',
  path: '/admin/realms/:realm/import',
  operationId: 'importRealm',
  tag,
  summary: 'Plan and apply a whole or partial realm document in one transaction',
  description: [
    'The answer is the plan. A top-level key that is absent is not touched; only declared fields are compared and owned.',
    'A realm that does not exist is seeded first (needs `realm:create`). Needs the read permission of every section that the document',
    'declares and, unless it is a dry run, the write permission of every section that the plan changes; nobody can give what they do not hold.',
    'A dry run shows no more than its caller may read: without a section’s write permission none of its secrets is compared (`keptSecrets`). With `realm:plan`, every section but users may be planned; stored values are then shown as *** where the section’s read permission is missing.',
    '`If-Match: "<revision>"` applies only what was planned against that revision (`"0"`: only where the realm does not exist), else 412.',
    '`dryRun=true` answers the plan, conflicts included, and writes nothing; otherwise a conflict is a 409 that lists every conflict with its owner in `conflicts` and changes nothing; `force=true` takes over instead.',
    '`prune=true` deletes what this manager applied before and this document no longer holds, in all sections; users only where the document has `users`.',
    'A field that the manager declared before and no longer declares is released and keeps its value; with `prune` it goes back to the value of a fresh realm or object, where there is one.',
    'What a hold names stays as it is, by whichever manager and with whatever option, and is told in `held`; the rest is applied.',
    'What something else still needs is not pruned: it stays the manager’s, is told in `kept`, and goes with an import after its last user has gone; whoever else declares it has it.',
    'A realm that is made of a whole export (every key of the format is present, and every field of its claims and client scopes) has only those of the seeded claims and client scopes that the export has.',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: shows what a placeholder looks like
    'A built-in flow is released, never deleted. A confidential value is a literal, or exactly a placeholder such as `${SVC_VAR_NAME}`, which is read from the server’s environment for who holds the section’s write permission over every realm; where it has no value, the secret that is stored stays (`keptSecrets`), and an object that has none is refused. Both are shown as ***. Different wrong values of a stored secret in plans that write nothing are counted: after ten in a quarter of an hour, 429 with `Retry-After`.',
    'Credentials of a user are set where the user is created or has none of that type yet, and never replaced. Keys, sessions, consents and events are not touched.',
    'Applying the same document again plans nothing, writes nothing and audits nothing. The body is read as a stream: users may be any number, the other sections together 32 MiB.',
  ].join(' '),
  permission: null,
  params: InRealm,
  query: ImportQuery,
  body: RealmDocument,
  example: {
    realm: { displayName: 'Acme' },
    roles: [{ name: 'editor' }],
    clients: [
      { clientId: 'shop', tokenEndpointAuthMethod: 'none', redirectUris: ['https://shop.example.com/callback'] },
    ],
  },
  response: Plan,
  problems: [
    'managed-by-another',
    'declared-only',
    'missing-environment',
    'privilege-escalation',
    'forbidden',
    'precondition-failed',
    'too-large',
    'not-found',
    'name-taken',
    'being-deleted',
    'unsupported-media-type',
    'too-many-requests',
    'last-administrator',
  ],
});

export const Manager = z
  .object({
    manager: z.string(),
    lastAppliedAt: EpochMs,
    owns: z
      .array(z.object({ kind: z.string(), key: z.string(), fields: z.array(z.string()) }))
      .describe('Objects of the kinds that the caller may read'),
    users: z.boolean().default(false).describe('It has applied users, which `owns` does not list'),
    hidden: z.boolean().default(false).describe('It has applied more than the caller may read'),
  })
  .meta({ id: 'Manager' });
export type Manager = z.infer<typeof Manager>;
export const listManagers = route({
  method: 'GET',
  path: '/admin/realms/:realm/managers',
  tag,
  summary: 'Who manages what, and when they last applied',
  description:
    'A page has at most 1000 objects. A manager that owns more is on the next page again, with the others of its objects.',
  permission: 'managers:read',
  params: InRealm,
  query: Page,
  response: z.array(Manager),
});
export const releaseManager = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/managers/*manager',
  operationId: 'releaseManager',
  tag,
  summary: 'Release all that a manager owns; `?objects=delete` also deletes the objects',
  description:
    'The manager’s name is the rest of the path, URL-encoded or with its slashes. Objects are deleted as an empty document with `prune` would; users are only released.',
  permission: 'managers:write',
  params: z.strictObject({ realm: RealmName, manager: ManagerName }),
  query: z.strictObject({ objects: z.enum(['keep', 'delete']).default('keep') }),
  status: 204,
  problems: ['not-found', 'forbidden', 'privilege-escalation', 'held', 'in-use', 'flow-in-use', 'last-administrator'],
});

export const ManagersMove = z
  .object({
    managers: z
      .array(z.object({ realm: RealmName, from: z.string(), to: z.string(), objects: z.int() }))
      .describe('Whose objects change hands, by realm'),
    realms: z.array(RealmName).describe('Realms that a manager of the old name made, or may adopt: they follow'),
    formerRealms: z.array(RealmName).describe('The same of realms that were deleted, whose names stay whose they were'),
  })
  .meta({ id: 'ManagersMove' });
export type ManagersMove = z.infer<typeof ManagersMove>;
/** The most objects in one request. */
export const MOST_HANDED_OVER = 1000;
export const moveManagers = route({
  method: 'POST',
  path: '/admin/managers/move',
  operationId: 'moveManagers',
  tag,
  summary: 'Let one name, with all that begins with it before a slash, own what another did, in every realm',
  description:
    'For a cluster that was rebuilt under another name: `k8s:one` to `k8s:two` moves `k8s:one/identity/Realm/acme` to `k8s:two/identity/Realm/acme`. Objects, people, the history of applied plans, who made a realm and who may adopt it follow, in one transaction; nothing else in the realms changes. With `realm` and `objects` those objects of one manager alone become another’s. Needs `managers:write` over every realm and, unless it is a dry run, every permission there.',
  permission: null,
  query: z.strictObject({ dryRun: flag.default(false).describe('Answer what would move without moving it') }),
  body: z
    .strictObject({
      from: ManagerName.describe('A manager, or the beginning of managers’ names up to a slash'),
      to: ManagerName,
      realm: RealmName.optional().describe('With objects: whose they are'),
      objects: z
        .array(z.strictObject({ kind: z.string().max(100), key: z.string().max(2048) }))
        .min(1)
        .max(MOST_HANDED_OVER)
        .optional()
        .describe('Only these of what the manager `from` owns; what it does not own is passed over'),
    })
    .refine(({ realm, objects }) => (realm === undefined) === (objects === undefined), {
      path: ['objects'],
      error: 'goes with realm, and realm with it',
    }),
  example: { from: 'k8s:one', to: 'k8s:two' },
  response: ManagersMove,
  problems: ['forbidden', 'privilege-escalation'],
});
