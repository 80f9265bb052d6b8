// Applications: clients that users see as one app. Decisions "Application"; specification 4.10.
import { z } from 'zod';
import { kind } from './kind.ts';
import { HttpUrl, name, text } from './names.ts';

export const applications = kind({
  section: 'applications',
  kind: 'application',
  one: 'an application',
  many: 'applications',
  description: 'Applications: what people see as one app',
  key: 'name',
  at: 'name',
  fields: {
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
    flowOverride: name(255)
      .nullable()
      .describe('Alias of the flow that signs people in; a client’s own goes before it'),
    roles: z.array(name(255)).max(100).describe('Realm roles whose holders may use it; empty: everybody'),
    visible: z.boolean().describe('Listed on the account pages'),
    enabled: z.boolean().describe('false: nobody signs in to its clients'),
  },
  fresh: { visible: true, enabled: true },
  names: { clients: 'client', samlClients: 'samlClient', roles: 'role', flowOverride: 'flow' },
  searches: ['name', 'displayName'],
  most: 10_000,
  mostInResource: 1000,
  problems: ['privilege-escalation'],
  describe: { list: 'List or search applications', remove: 'Delete an application; its clients stay' },
  example: { name: 'wiki', displayName: 'Wiki', url: 'https://wiki.example.com/', visible: true },
  updateExample: {
    displayName: 'The wiki',
    description: 'What everybody knows',
    url: 'https://wiki.example.com/start',
    iconUrl: 'https://wiki.example.com/icon.svg',
    flowOverride: 'browser',
    visible: false,
    enabled: false,
  },
  form: {
    lead: 'Each groups the clients that people see as one app, such as its web page and its phone app, below one name and picture on the account page; what signs people in are the clients',
  },
  cli: {
    help: 'what people see as one app',
    shown: ['enabled', 'roles', 'clients', 'displayName'],
    heads: { roles: 'FOR', displayName: 'NAME', flowOverride: 'FLOW' },
  },
});
export const {
  list: listApplications,
  create: createApplication,
  get: getApplication,
  put: putApplication,
  remove: deleteApplication,
} = applications.routes;
