// Users in bulk, row by row: a JSON array, or one JSON object per line. Decisions "Import, export, plan"; specification
// 4.2.
import { z } from 'zod';
import { InRealm } from './names.ts';
import { FieldError } from './problem.ts';
import { route } from './route.ts';
import { Password, UserDocument } from './users.ts';

export const UserRow = UserDocument.omit({ olderThanProfile: true }).extend({
  password: Password.optional().describe('In plain: the realm’s rules are asked; better send a hash in `credentials`'),
  passwordTemporary: z.boolean().optional(),
});

/** The most rows whose results are listed one by one. */
export const MOST_TOLD = 100_000;

const TakenRow = z
  .object({
    row: z.int().describe('Counted from 0'),
    username: z.string(),
    action: z.enum(['created', 'updated', 'unchanged']),
  })
  .meta({ id: 'UserRowTaken' });
export type TakenRow = z.infer<typeof TakenRow>;

export const UsersImported = z
  .object({
    created: z.int(),
    updated: z.int(),
    unchanged: z.int(),
    failed: z.int(),
    rows: z.array(TakenRow).describe('What became of each row that was taken; of the first 100,000'),
    failures: z
      .array(z.object({ row: z.int().describe('Counted from 0'), errors: z.array(FieldError) }))
      .describe('Of the first 1,000 that failed'),
  })
  .meta({ id: 'UsersImported' });
export type UsersImported = z.infer<typeof UsersImported>;

export const importUsers = route({
  method: 'POST',
  path: '/admin/realms/:realm/users/import',
  tag: 'users',
  summary: 'Create or update many users',
  description:
    'The body is a JSON array, or with the content type `application/x-ndjson` a JSON object a line, of any length; each row is a user as a realm document has it (or with `password` in plain), and is found again by its username. Once all of the body has arrived, every row that the realm can take is written, in one transaction: a body that is cut off changes nothing. `rows` says what became of each; one that is refused is told in `failures` and loses no other. With `atomic=true` all are written in one transaction or none: what is wrong is a 400 that names `users[row]`. What a row leaves out keeps its value, and a credential that somebody has is never replaced.',
  permission: 'users:write',
  params: InRealm,
  query: z.strictObject({ atomic: z.stringbool().default(false) }),
  body: z.array(UserRow),
  example: [{ username: 'carol', email: 'carol@example.com' }],
  response: UsersImported,
  problems: [
    'too-large',
    'unsupported-media-type',
    'privilege-escalation',
    'name-taken',
    'managed-by-another',
    'last-administrator',
  ],
});
