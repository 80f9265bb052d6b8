// SCIM targets: servers to which the realm's users and groups are provisioned. Decisions "SCIM target"; specification
// 4.10.
import { z } from 'zod';
import { kind } from './kind.ts';
import { ById, EpochMs, HttpsAddress, Id, name, Page, text } from './names.ts';
import { route } from './route.ts';

export const scimTargets = kind({
  section: 'scimTargets',
  kind: 'scimTarget',
  one: 'a SCIM target',
  many: 'SCIM targets',
  description: 'Where people and groups are provisioned to',
  key: 'name',
  fields: {
    name: name(255).describe('Unique in the realm'),
    url: HttpsAddress.describe('The base address of its SCIM 2.0 service'),
    enabled: z.boolean().describe('Whether it is to be kept in step'),
    users: z.boolean().describe('Whether people go there'),
    groups: z.boolean().describe('Whether groups go there'),
    filter: text(4000).nullable().describe('Which people: a SCIM filter (RFC 7644 §3.4.2.2); null: everybody'),
    mappings: z
      .record(name(255), text(1000))
      .refine((map) => Object.keys(map).length <= 200, 'must have at most 200 entries')
      .describe(
        'SCIM attribute → where its value comes from, where that is not the usual: `username`, `email`, `firstName`, `lastName`, `id`, `attributes.NAME`, another SCIM attribute, a constant in quotation marks; empty: it isn’t sent',
      ),
  },
  needed: ['url'],
  fresh: { enabled: true, users: true, groups: true },
  secrets: { secret: text(1024).min(1).describe('The bearer token; write-only') },
  answered: {
    url: z.string(),
    status: z
      .object({
        inStep: z.int().nullable(),
        waiting: z.int().nullable(),
        failed: z.int().nullable(),
        lastError: z.string().nullable(),
        lastRunAt: EpochMs.nullable(),
      })
      .nullable()
      .describe('null: nothing has been sent there yet'),
  },
  most: 1000,
  mostInResource: 200,
  describe: {
    create:
      'Whoever makes or changes one must hold `users:read` where people go there, and `groups:read` where groups do',
  },
  form: { lead: 'Other systems to which users and groups are provisioned' },
  example: {
    name: 'wiki',
    url: 'https://wiki.example.com/scim/v2',
    secret: 'a token of its own',
  },
  updateExample: {
    url: 'https://other.example.com/scim',
    enabled: false,
    users: false,
    groups: false,
    filter: 'active eq true',
    mappings: { userName: 'email' },
    secret: 'another token',
  },
});
export const {
  list: listScimTargets,
  create: createScimTarget,
  get: getScimTarget,
  put: putScimTarget,
  remove: deleteScimTarget,
} = scimTargets.routes;

const at = '/admin/realms/:realm/scim-targets/:id';
const tag = 'scim-targets';
const kinds = z.enum(['user', 'group']);

export const ScimTargetObject = z
  .object({
    kind: kinds,
    id: Id,
    name: z.string().nullable().describe('null: it is deleted here'),
    remoteId: z.string().nullable().describe('Its id there; null: it is not there yet'),
    state: z.enum(['inStep', 'waiting', 'failed']),
    attempts: z.int().describe('How often it was refused since it last changed'),
    error: z.string().nullable(),
    nextTryAt: EpochMs.nullable(),
  })
  .meta({ id: 'ScimTargetObject' });
export type ScimTargetObject = z.infer<typeof ScimTargetObject>;
export const listScimTargetObjects = route({
  method: 'GET',
  path: `${at}/objects`,
  tag,
  summary: 'List people and groups of a SCIM target, and who is out of step',
  description: 'It names people and groups, and so needs the permissions `users:read` and `groups:read` too.',
  permission: 'scim-targets:read',
  params: ById,
  query: Page.extend({ state: ScimTargetObject.shape.state.optional() }),
  response: z.array(ScimTargetObject),
});

const count = z.int().nullable().describe('null: it is done later');
export const Reconciliation = z
  .object({
    dryRun: z.boolean(),
    create: count,
    update: count,
    delete: count,
    unchanged: count,
    examples: z
      .array(
        z.object({ kind: kinds, id: Id, name: z.string().nullable(), action: z.enum(['create', 'update', 'delete']) }),
      )
      .describe('The first hundred'),
  })
  .meta({ id: 'ScimReconciliation' });
export type Reconciliation = z.infer<typeof Reconciliation>;
export const reconcileScimTarget = route({
  method: 'POST',
  path: `${at}/reconcile`,
  tag,
  summary: 'Send everything to a SCIM target again, or say what is out of step',
  description:
    'Everything is queued, and what was changed there by others is put back. `dryRun=true` compares with what was sent before, and sends nothing; it names people and groups, and so needs `users:read` and `groups:read` too.',
  permission: 'scim-targets:write',
  params: ById,
  query: z.strictObject({ dryRun: z.stringbool().default(false) }),
  recordsNothing: true,
  response: Reconciliation,
  problems: ['wrong-state'],
});
