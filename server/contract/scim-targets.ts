// SCIM targets: where the realm's people and groups are to be provisioned to. Decisions "SCIM target"; specification 4.10.
import { z } from 'zod';
import { kind } from './kind.ts';
import { HttpsAddress, name, text } from './names.ts';

/** What this release does of it: keeps it. */
const notYet = 'Provisioning is not a part of this release: a target is kept, and nothing is sent to it';

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
      .describe('SCIM attribute → where its value comes from, where that is not the usual'),
  },
  needed: ['url'],
  secrets: { secret: text(1024).min(1).describe('The bearer token; write-only') },
  answered: {
    url: z.string(),
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
  },
  most: 1000,
  mostInResource: 200,
  describe: { create: `Create a SCIM target. ${notYet}` },
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
} = scimTargets.routes;
