// Words about directories of people that their syncs, sign-ins by them, and the writing of people share.
import type { By } from '../contract/events.ts';

/** Who audit events name where a directory said so. */
export const byDirectory = (alias: string): By => ({
  actor: { type: 'system', id: null, name: `directory ${alias}` },
  ipAddress: null,
});

/** Somebody else goes on with what was being written. */
export class Superseded extends Error {}

/** A field of an entry that is left out; the message holds no value. */
export interface FieldFault {
  field: string;
  message: string;
}

export const describeFaults = (faults: readonly FieldFault[], came: boolean): string => {
  const fields = faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return came ? `left out: ${fields}` : fields;
};
