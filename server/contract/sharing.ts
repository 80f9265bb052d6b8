// Users share their resources at resource servers with others, on the account API. Specification 4.11; decisions "Authorization services".
import { z } from 'zod';
import { EpochMs, Id, name, RealmName, text } from './names.ts';
import { route } from './route.ts';

const scopes = z.array(name()).max(200);
const shareFields = {
  scopes: scopes.describe('What is shared'),
  requested: scopes.describe('What is asked for and waits for the owner’s answer'),
  denied: scopes.describe('What the owner said no to; it is not asked for again'),
  createdAt: EpochMs,
  updatedAt: EpochMs,
};
export const Share = z
  .object({
    id: Id,
    username: z.string().describe('As the owner typed it, or of whoever asked: it may be nobody’s'),
    ...shareFields,
  })
  .meta({ id: 'Share' });
export type Share = z.infer<typeof Share>;

const ofServer = {
  clientId: z.string().describe('The resource server'),
  clientName: z.string(),
  resource: z.string().describe('The id of a registered resource, or the name of a configured one'),
  name: z.string(),
};
export const SharedResource = z
  .object({ ...ofServer, type: z.string().nullable(), scopes, shares: z.array(Share) })
  .meta({ id: 'SharedResource' });
export type SharedResource = z.infer<typeof SharedResource>;
export const ReceivedShare = z
  .object({ id: Id, ...ofServer, owner: z.string().describe('Username'), ...shareFields })
  .meta({ id: 'ReceivedShare' });
export type ReceivedShare = z.infer<typeof ReceivedShare>;

const tag = 'sharing';
const at = '/realms/:realm/account/shares' as const;
const own = { tag, permission: null, principal: 'person', params: z.strictObject({ realm: RealmName }) } as const;
const one = { ...own, params: z.strictObject({ realm: RealmName, id: Id }) };

export const listOwnResources = route({
  ...own,
  method: 'GET',
  path: '/realms/:realm/account/resources',
  operationId: 'listOwnResources',
  summary: 'What is yours at resource servers, with whom you share it, and who asks',
  response: z.array(SharedResource),
});
export const listReceivedShares = route({
  ...own,
  method: 'GET',
  path: at,
  operationId: 'listReceivedShares',
  summary: 'What others share with you, and what you asked them for',
  response: z.array(ReceivedShare),
});
export const createShare = route({
  ...own,
  method: 'POST',
  path: at,
  operationId: 'createShare',
  summary: 'Share something of yours',
  description: 'A name that nobody has gets the same answer, and lets nobody in.',
  body: z.strictObject({
    clientId: text(255).min(1),
    resource: text(255).min(1),
    username: name(),
    scopes: scopes.min(1),
  }),
  example: { clientId: 'albums', resource: 'holiday', username: 'ana', scopes: ['view'] },
  status: 201,
  response: Share,
  problems: ['not-found', 'too-large'],
});
export const putShare = route({
  ...one,
  method: 'PUT',
  path: `${at}/:id`,
  operationId: 'putShare',
  summary: 'Say what you share: yes or no to what is asked for, more or less than before',
  description: 'What was asked for and is not among `scopes` is denied; without any, nothing is shared any more.',
  body: z.strictObject({ scopes }),
  example: { scopes: ['view'] },
  response: Share,
  problems: ['not-found'],
});
export const deleteShare = route({
  ...one,
  method: 'DELETE',
  path: `${at}/:id`,
  operationId: 'deleteShare',
  summary: 'End what you share, or what is shared with you',
  status: 204,
  problems: ['not-found'],
});
