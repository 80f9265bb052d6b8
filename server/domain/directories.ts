// Types of user directories that syncs, sign-ins by a directory, and the writing of users share.
import type { By } from '../contract/events.ts';

/** The actor of audit events for changes that come from a directory. */
export const byDirectory = (alias: string): By => ({
  actor: { type: 'system', id: null, name: `directory ${alias}` },
  ipAddress: null,
});

/** Another process has taken over the sync that was being written. */
export class Superseded extends Error {}

/** A field of an entry that is not imported, with the reason; the message holds no value. */
export interface FieldFault {
  field: string;
  message: string;
}

/** One line for a sync's report. @param came whether the entry was taken over without the faulty fields */
export const describeFaults = (faults: readonly FieldFault[], came: boolean): string => {
  const fields = faults.map(({ field, message }) => `${field}: ${message}`).join('; ');
  return came ? `left out: ${fields}` : fields;
};
