// SCIM targets: where the realm's people and groups are to be provisioned to. Decisions "SCIM target"; specification 4.10.
import { z } from 'zod';
import { HttpsAddress, Id, name, text } from './names.ts';
import { resourceRoutes } from './resource.ts';

/** What this release does of it: keeps it. */
const notYet = 'Provisioning is not a part of this release: a target is kept, and nothing is sent to it';

const fields = {
  name: name(255).describe('Unique in the realm'),
  url: HttpsAddress.describe('The base address of its SCIM 2.0 service'),
  enabled: z.boolean().describe('Whether it is to be kept in step'),
  users: z.boolean().describe('Whether people go there'),
  groups: z.boolean().describe('Whether groups go there'),
  filter: text(4000).nullable().describe('Which people: a SCIM filter (RFC 7644 §3.4.2.2); null: everybody'),
  mappings: z
    .record(name(255), text(1000))
    .refine((map) => Object.keys(map).length <= 200, 'must have at most 200 entries')
    .describe('SCIM attribute → where its value comes from, where that is not the usual'),
};
const secret = text(1024).min(1).describe('The bearer token; write-only');

export const ScimTarget = z
  .object({
    id: Id,
    ...fields,
    url: z.string(),
    secretSet: z.boolean(),
    status: z
      .object({
        inStep: z.int().nullable(),
        waiting: z.int().nullable(),
        failed: z.int().nullable(),
        lastError: z.string().nullable(),
        lastRunAt: z.int().nullable(),
      })
      .nullable()
      .describe('null: nothing has been sent there yet'),
    supported: z.boolean().describe(`false: ${notYet.charAt(0).toLowerCase()}${notYet.slice(1)}`),
  })
  .meta({ id: 'ScimTarget' });
export type ScimTarget = z.infer<typeof ScimTarget>;

export const ScimTargetInput = z
  .strictObject({ ...fields, secret: secret.nullable() })
  .partial()
  .required({ name: true, url: true });
/** In a realm document; the natural key is the name. */
export const ScimTargetDocument = z
  .strictObject({ ...fields, secret })
  .partial()
  .required({ name: true });

export const scimTargetRoutes = resourceRoutes({
  path: 'scim-targets',
  area: 'scim-targets',
  one: 'a SCIM target',
  many: 'SCIM targets',
  wire: ScimTarget,
  input: ScimTargetInput,
  /** PUT takes what GET answered; a field that is left out keeps its value, the secret too. */
  update: ScimTargetInput.partial().extend({
    id: Id.optional(),
    secretSet: z.boolean().optional(),
    status: z.unknown().optional(),
    supported: z.boolean().optional(),
  }),
  example: {
    name: 'wiki',
    url: 'https://wiki.example.com/scim/v2',
    users: true,
    groups: false,
    secret: 'a token of its own',
  },
  updateExample: { filter: 'active eq true' },
  describe: { create: `Create a SCIM target. ${notYet}` },
});
export const {
  list: listScimTargets,
  create: createScimTarget,
  get: getScimTarget,
  put: putScimTarget,
  remove: deleteScimTarget,
} = scimTargetRoutes;
