// Protocol mappers: claims of one client only. They are in its tokens for any requested scopes. Decisions "Protocol mapper";
// specification 2.10, 4.10.
import { claimExample, claimFields, claimUpdateExample, freshClaim } from './claims.ts';
import { type InputOf, kind } from './kind.ts';
import { name } from './names.ts';

export const clientProtocolMappers = kind({
  section: 'clientProtocolMappers',
  kind: 'protocolMapper',
  area: 'clients',
  one: 'a protocol mapper of a client',
  many: 'protocol mappers of a client',
  label: 'protocol mapper',
  description: 'Claims of single clients, by clientId',
  ofClient: {
    path: 'mappers',
    groups: { by: 'clientId', list: 'mappers', described: ['The client', 'Its mappers, by name'] },
  },
  key: 'name',
  at: 'mapperId',
  fields: {
    name: name(255).describe('The mapper’s name, unique at the client'),
    ...claimFields,
    claim: claimFields.claim.describe(
      'The claim in the token, where it is another than the mapper’s name; a dot nests it in an object',
    ),
  },
  fresh: { ...freshClaim, in: [...freshClaim.in] },
  most: 50_000,
  mostOfEach: 200,
  mostInResource: 1000,
  problems: ['not-found', 'privilege-escalation'],
  example: { ...claimExample, in: [...claimExample.in] },
  updateExample: { ...claimUpdateExample, in: ['idToken'] },
  cli: {
    plural: 'mappers',
    singular: 'mapper',
    help: 'claims of one client alone: its protocol mappers',
    shown: ['claim', 'source', 'attribute', 'in'],
    heads: { name: 'MAPPER', claim: 'IN THE TOKEN', source: 'FROM', attribute: 'WHICH', jsonType: 'TYPE' },
  },
});
export type ProtocolMapperInput = InputOf<typeof clientProtocolMappers>;
export const {
  list: listProtocolMappers,
  create: createProtocolMapper,
  get: getProtocolMapper,
  put: putProtocolMapper,
  remove: deleteProtocolMapper,
} = clientProtocolMappers.routes;
