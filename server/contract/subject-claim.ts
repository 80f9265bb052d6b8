// The `sub` in users' tokens: a view of the realm's settings. Specification 4.2; decisions "Subject claim".
import { z } from 'zod';
import { InRealm } from './names.ts';
import { route } from './route.ts';
import { settingsShape } from './settings.ts';

export const SubjectClaim = z
  .object({
    strategy: settingsShape.subjectStrategy,
    attribute: settingsShape.subjectAttribute.unwrap().optional().describe('Of strategy attribute: which one'),
  })
  .meta({ id: 'SubjectClaim' });
export type SubjectClaim = z.infer<typeof SubjectClaim>;

const at = '/admin/realms/:realm/subject-claim' as const;
const tag = 'settings';

export const getSubjectClaim = route({
  method: 'GET',
  path: at,
  tag,
  summary: 'Read what the tokens of people call them',
  permission: 'settings:read',
  params: InRealm,
  response: SubjectClaim,
});
export const putSubjectClaim = route({
  method: 'PUT',
  path: at,
  tag,
  summary: 'Set what the tokens of people call them',
  description:
    'These are settings of the realm (`subjectStrategy`, `subjectAttribute`) and can be declared as such. Applications take people whose `sub` has changed for new ones, and refresh tokens that were given before end: choose before there are any.',
  permission: 'settings:write',
  params: InRealm,
  body: z.strictObject(SubjectClaim.shape),
  example: { strategy: 'pairwise' },
  response: SubjectClaim,
  problems: ['declared-only', 'precondition-failed'],
});
