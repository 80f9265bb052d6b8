// People's sign-in sessions, as an administrator sees them. Decisions "Session"; specification 4.10.
import { z } from 'zod';
import { ById, EpochMs, Id, InRealm, Page } from './names.ts';
import { route } from './route.ts';

export const Session = z
  .object({
    id: Id,
    userId: Id,
    username: z.string(),
    clients: z.array(z.string()).describe('clientIds that got tokens in this session'),
    ipAddress: z.string().nullable(),
    userAgent: z.string().nullable(),
    startedAt: EpochMs,
    lastSeenAt: EpochMs,
    expiresAt: EpochMs,
    rememberMe: z.boolean(),
    levelOfAssurance: z.int(),
  })
  .meta({ id: 'Session' });
export type Session = z.infer<typeof Session>;

export const listSessions = route({
  method: 'GET',
  path: '/admin/realms/:realm/sessions',
  tag: 'sessions',
  summary: 'List live sessions, newest first',
  permission: 'sessions:read',
  params: InRealm,
  query: Page.extend({ userId: Id.optional() }),
  response: z.array(Session),
});
export const endSession = route({
  method: 'DELETE',
  path: '/admin/realms/:realm/sessions/:id',
  tag: 'sessions',
  summary: 'End a session and its tokens',
  permission: 'sessions:write',
  params: ById,
  status: 204,
  problems: ['not-found'],
});
