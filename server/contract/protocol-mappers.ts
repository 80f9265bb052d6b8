// Protocol mappers: claims of one client only. They are in its tokens for any requested scopes. Decisions "Protocol mapper";
// specification 2.10, 4.10.
import { z } from 'zod';
import { claimFields } from './claims.ts';
import { Id, name, RealmName } from './names.ts';
import { resourceRoutes } from './resource.ts';

const fields = {
  ...claimFields,
  claim: claimFields.claim.describe(
    'The claim in the token, where it is another than the mapper’s name; a dot nests it in an object',
  ),
};

export const ProtocolMapper = z.object({ id: Id, name: z.string(), ...fields }).meta({ id: 'ProtocolMapper' });
export type ProtocolMapper = z.infer<typeof ProtocolMapper>;
export const ProtocolMapperInput = z
  .strictObject(fields)
  .partial()
  .extend({ name: name(255).describe('The mapper’s name, unique at the client') });
export type ProtocolMapperInput = z.infer<typeof ProtocolMapperInput>;
/** In a realm document, as `clientProtocolMappers: [{clientId, mappers}]`; the natural key is the name. */
export const ProtocolMapperDocument = ProtocolMapperInput;

const OfClient = z.strictObject({ realm: RealmName, clientId: Id.describe('The client’s id') });
export const protocolMapperRoutes = resourceRoutes({
  path: 'clients/:clientId/mappers',
  tag: 'clients',
  area: 'clients',
  one: 'a protocol mapper of a client',
  many: 'protocol mappers of a client',
  wire: ProtocolMapper,
  input: ProtocolMapperInput,
  update: ProtocolMapperInput.extend({ id: Id }).partial(),
  within: OfClient,
  at: { param: 'mapperId', schema: OfClient.extend({ mapperId: Id.describe('The mapper’s id') }) },
  example: { name: 'department', source: 'attribute', attribute: 'department', in: ['accessToken', 'userinfo'] },
  updateExample: { in: ['idToken'] },
  problems: ['not-found', 'privilege-escalation'],
});
export const {
  list: listProtocolMappers,
  create: createProtocolMapper,
  get: getProtocolMapper,
  put: putProtocolMapper,
  remove: deleteProtocolMapper,
} = protocolMapperRoutes;
