// Applications: what a person sees as one app, whatever clients it is made of. Decisions "Application"; specification 4.10.
import { z } from 'zod';
import { HttpUrl, Id, name, text } from './names.ts';
import { byKey, resourceRoutes } from './resource.ts';

const fields = {
  name: name(255).describe('Unique in the realm'),
  displayName: text(255).nullable().describe('What people see'),
  description: text(2000).nullable().describe('What it is for'),
  url: HttpUrl.nullable().describe('Where it is opened'),
  iconUrl: HttpUrl.nullable().describe('Its picture'),
  clients: z
    .array(name(255))
    .max(100)
    .describe('clientIds; a client belongs to one application at most, and realmctl to none'),
  samlClients: z.array(name(1024)).max(100).describe('Entity ids'),
  flowOverride: name(255).nullable().describe('Alias of the flow that signs people in; a client’s own goes before it'),
  roles: z.array(name(255)).max(100).describe('Realm roles whose holders may use it; empty: everybody'),
  visible: z.boolean().describe('Listed on the account pages'),
  enabled: z.boolean().describe('false: nobody signs in to its clients'),
};

export const Application = z.object({ id: Id, ...fields }).meta({ id: 'Application' });
export type Application = z.infer<typeof Application>;
export const ApplicationInput = z.strictObject(fields).partial().required({ name: true });
/** In a realm document; the natural key is the name. */
export const ApplicationDocument = ApplicationInput;

export const applicationRoutes = resourceRoutes({
  path: 'applications',
  area: 'applications',
  one: 'an application',
  many: 'applications',
  wire: Application,
  input: ApplicationInput,
  /** PUT takes what GET answered; a field that is left out keeps its value. */
  update: ApplicationInput.partial().extend({ id: Id.optional() }),
  at: { param: 'name', schema: byKey('name', name(255)) },
  searches: true,
  example: { name: 'wiki', displayName: 'Wiki', url: 'https://wiki.example.com/', visible: true },
  updateExample: { description: 'What everybody knows' },
  problems: ['privilege-escalation'],
  describe: { list: 'List or search applications', remove: 'Delete an application; its clients stay' },
});
export const {
  list: listApplications,
  create: createApplication,
  get: getApplication,
  put: putApplication,
  remove: deleteApplication,
} = applicationRoutes;
