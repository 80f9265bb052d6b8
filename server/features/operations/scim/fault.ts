// A SCIM error with a type of RFC 7644 §3.12; http/scim-error.ts writes the response.

import { Problem } from '../../../contract/problem.ts';
import type { ScimType } from '../../../contract/scim-error.ts';

export const scimProblem = (scimType: ScimType, detail: string): Problem =>
  new Problem(scimType === 'uniqueness' ? 'name-taken' : 'invalid-request', detail, { extra: { scimType } });
