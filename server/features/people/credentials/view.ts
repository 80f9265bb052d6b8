// A stored credential as the API shows it: type and dates, never the secret.
import type { Credential } from '../../../contract/users.ts';
import type { CredentialRow } from './store.ts';

export const credentialView = (row: CredentialRow): Credential => ({
  id: row.id,
  type: row.type,
  label: row.label,
  createdAt: row.created_at.getTime(),
  lastUsedAt: row.last_used_at?.getTime() ?? null,
  ...(row.temporary === null ? {} : { temporary: row.temporary }),
  ...(row.reported ? { reported: true } : {}),
  ...(row.backed_up === null ? {} : { backedUp: row.backed_up }),
  ...(row.device_type === null ? {} : { deviceBound: row.device_type === 'singleDevice' }),
  ...(row.authenticator && { authenticator: row.authenticator }),
  ...(row.codes_left === null ? {} : { codesLeft: row.codes_left }),
});
