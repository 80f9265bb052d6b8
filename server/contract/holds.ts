// Holds: an administrator keeps what a document manages as it is, for an emergency edit. While a hold stands, no document
// changes what it names; when it ends, the declared state returns. Decisions "Holds".
import { z } from 'zod';
import { DAY_MS } from './durations.ts';
import { Party } from './events.ts';
import { ById, EpochMs, Id, InRealm, name, Page } from './names.ts';
import { route } from './route.ts';
import { presentSections } from './sections.ts';

export const LONGEST_HOLD_MS = 7 * DAY_MS;
/** The most things in one hold, and the most holds of a realm. */
export const MOST_HELD = 100;
export const MOST_HOLDS = 100;

/** The area whose write permission an edit of the kind needs, by kind. Users are run-time data: no hold names them. */
export const areaOfHeldKind: ReadonlyMap<string, string> = new Map(
  [...presentSections.values()].filter(({ kind }) => kind !== 'user').map(({ kind, area }) => [kind, area]),
);

export const HeldThing = z
  .strictObject({
    kind: z.enum([...areaOfHeldKind.keys()]).describe('As in plans and managers’ lists: client, flow, settings, …'),
    key: name(2300)
      .optional()
      .describe(
        'The natural key, as there; of settings the field’s name, of a client role `clientId/role`. Left out: all of the kind',
      ),
  })
  .meta({ id: 'HeldThing' });
export type HeldThing = z.infer<typeof HeldThing>;

export const Hold = z
  .object({
    id: Id,
    what: z.array(HeldThing),
    reason: z.string(),
    placedBy: Party.nullable().describe('null: the user was erased'),
    placedAt: EpochMs,
    until: EpochMs,
  })
  .meta({ id: 'Hold' });
export type Hold = z.infer<typeof Hold>;

const tag = 'holds';
const at = '/admin/realms/:realm/holds' as const;

export const placeHold = route({
  method: 'POST',
  path: at,
  operationId: 'placeHold',
  tag,
  summary: 'Keep what a document manages as it is, for an emergency edit',
  description: [
    'While the hold stands, an import leaves what it names as it is, and names it in the plan’s `held`; the rest of the document is applied.',
    'The admin API changes it as before. When the hold ends, at `until` or by DELETE, the realm’s revision rises, so that the operator restores what is declared.',
    'Needs the write permission of each kind that it names as well. What no manager owns is refused: no document would change it. Where the setting `declaredOnly` locks the kind, a hold opens it, also for what is not there yet.',
  ].join(' '),
  permission: 'holds:write',
  params: InRealm,
  body: z.strictObject({
    what: z.array(HeldThing).min(1).max(MOST_HELD),
    reason: name(500).describe('Why, for those who see the difference in the operator’s status'),
    until: EpochMs.describe('Epoch milliseconds; at most seven days from now'),
  }),
  example: {
    what: [{ kind: 'client', key: 'shop' }],
    reason: 'INC-1234: the shop is down',
    until: Date.UTC(2030, 0, 31, 18),
  },
  status: 201,
  response: Hold,
  problems: ['not-found', 'forbidden', 'wrong-state'],
});
export const listHolds = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'List the holds that stand, the oldest first',
  permission: 'holds:read',
  params: InRealm,
  query: Page,
  response: z.array(Hold),
});
export const getHold = route({
  method: 'GET',
  path: `${at}/:id`,
  tag,
  summary: 'Read a hold',
  permission: 'holds:read',
  params: ById,
  response: Hold,
  problems: ['not-found'],
});
export const endHold = route({
  method: 'DELETE',
  path: `${at}/:id`,
  operationId: 'endHold',
  tag,
  summary: 'End a hold before its time: the declared state returns',
  description: 'Needs the write permission of each kind that the hold names as well.',
  permission: 'holds:write',
  params: ById,
  status: 204,
  problems: ['not-found'],
});
