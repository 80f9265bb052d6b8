// The plans that were applied to a realm, and undoing one. Decisions "Import, export, plan".
import { z } from 'zod';
import { Party } from './events.ts';
import { EpochMs, InRealm, Page, RealmName } from './names.ts';
import { route } from './route.ts';
import { Change, ManagerName, OwnershipMove, Plan } from './transfer.ts';

export const AppliedPlan = z
  .object({
    revision: z.int().describe('Of the realm, which applying the plan made'),
    appliedAt: EpochMs,
    manager: z.string(),
    by: Party.nullable().describe('Who applied it; null without events:read, or where the event is no longer kept'),
    undoes: z.int().nullable().describe('The revision that this plan took back'),
    create: z.int(),
    update: z.int(),
    delete: z.int(),
  })
  .meta({ id: 'AppliedPlan' });
export type AppliedPlan = z.infer<typeof AppliedPlan>;

export const AppliedPlanDetail = AppliedPlan.extend({
  changes: z
    .array(Change)
    .describe('Secrets as ***; without fields that name people, and without what the caller may not read'),
  ownership: z.array(OwnershipMove).describe('What changed hands'),
  complete: z
    .boolean()
    .describe('false: there was too much to keep it, or it named somebody who was erased, so it can’t be undone'),
}).meta({ id: 'AppliedPlanDetail' });
export type AppliedPlanDetail = z.infer<typeof AppliedPlanDetail>;

const tag = 'transfer';
const Revision = z.coerce.number().int().min(1).max(Number.MAX_SAFE_INTEGER);
const InHistory = z.strictObject({ realm: RealmName, revision: Revision });

export const listHistory = route({
  method: 'GET',
  path: '/admin/realms/:realm/history',
  operationId: 'listHistory',
  tag,
  summary: 'The plans that were applied, newest first',
  description:
    'Of realm documents, by whomever they were sent: the operator, `realmctl`, a pipeline. What single requests changed is in the events. The setting `mostAppliedPlans` says how many are kept.',
  permission: 'realm:read',
  params: InRealm,
  query: Page.extend({ manager: ManagerName.optional().describe('Of this manager alone') }),
  response: z.array(AppliedPlan),
});

export const getHistory = route({
  method: 'GET',
  path: '/admin/realms/:realm/history/:revision',
  operationId: 'getHistory',
  tag,
  summary: 'What one applied plan changed',
  permission: 'realm:read',
  params: InHistory,
  response: AppliedPlanDetail,
  problems: ['not-found'],
});

export const undoHistory = route({
  method: 'POST',
  path: '/admin/realms/:realm/history/:revision/undo',
  operationId: 'undoHistory',
  tag,
  summary: 'Take an applied plan back: plan its inverse and apply it',
  description: [
    'What the plan made is deleted, what it deleted is made again, what it changed gets its former value, and ownership goes back; in one transaction, as a plan of the same manager.',
    'Where something of it was changed since, nothing is done, and `errors` says what stands in the way (409).',
    'Secrets and fields that name people are not recorded: they stay as they are (`keptSecrets`), and what is made again comes without them; where a field would say anew where a secret is sent, it is refused (400). The realm itself stays, if the plan made it. People that the plan changed stay as they are.',
    'Needs what importing the same changes would need. `dryRun=true` answers the plan and writes nothing; `If-Match: "<revision>"` applies only at that revision of the realm.',
    'Whoever keeps applying the same declaration (the operator, a pipeline) will apply it again: take it back there, too.',
  ].join(' '),
  permission: null,
  params: InHistory,
  query: z.strictObject({ dryRun: z.stringbool().default(false).describe('Answer the plan without writing') }),
  response: Plan,
  problems: [
    'not-found',
    'changed-since',
    'declared-only',
    'in-use',
    'flow-in-use',
    'privilege-escalation',
    'forbidden',
    'precondition-failed',
    'name-taken',
    'last-administrator',
  ],
});
