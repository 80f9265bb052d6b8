// What speaks against a SCIM request, by RFC 7644 §3.12's words; http/scim-error.ts answers it.

import { Problem } from '../../../contract/problem.ts';
import type { ScimType } from '../../../contract/scim.ts';

export const fault = (scimType: ScimType, detail: string): Problem =>
  new Problem(scimType === 'uniqueness' ? 'name-taken' : 'invalid-request', detail, { extra: { scimType } });
