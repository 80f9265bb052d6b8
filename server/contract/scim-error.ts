// The errors of the realm's SCIM server.
import { z } from 'zod';

export const SCIM_ERROR = 'urn:ietf:params:scim:api:messages:2.0:Error';

/** RFC 7644 §3.12, RFC 9865 §3. */
export const scimTypes = [
  'invalidFilter',
  'tooMany',
  'uniqueness',
  'mutability',
  'invalidSyntax',
  'invalidPath',
  'noTarget',
  'invalidValue',
  'invalidVers',
  'sensitive',
  'invalidCursor',
  'invalidCount',
] as const;
export type ScimType = (typeof scimTypes)[number];

export const ScimError = z
  .object({
    schemas: z.array(z.string()),
    status: z.string().describe('The HTTP status'),
    scimType: z.enum(scimTypes).optional(),
    detail: z.string().optional(),
  })
  .meta({ id: 'ScimError' });
