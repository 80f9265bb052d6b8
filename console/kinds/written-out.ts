// Kinds of another shape than `kind()` declares: their routes are written out in the contract, and so are their entries here.
import type { KindEntry } from './entry.ts';

export const writtenOut: readonly KindEntry[] = [
  {
    section: 'flows',
    kind: 'flow',
    path: 'flows',
    one: 'a flow',
    many: 'sign-in flows',
    label: 'flow',
    description: 'The steps by which people sign in, as a tree of authenticators and conditions',
    read: 'flows:read',
    write: 'flows:write',
    key: 'alias',
    at: 'alias',
    resource: 'Flow',
    noun: 'flows',
    builtIn: 'builtIn',
    columns: [{ field: 'builtIn', head: 'built in', cell: 'boolean', shown: true }],
    form: {
      fields: {
        alias: { label: 'Name', help: 'What settings and applications name' },
        copyFromAlias: { label: 'Copy of', help: 'A flow to begin with; empty: without steps' },
      },
    },
    load: async () => {
      const { createFlow, deleteFlow, getFlow, listFlows, putFlow } = await import('../../server/contract/flows.ts');
      return {
        routes: { list: listFlows, create: createFlow, get: getFlow, put: putFlow, remove: deleteFlow },
        input: createFlow.body,
        names: { copyFromAlias: 'flow' },
      };
    },
  },
  {
    section: 'authorizationServices',
    kind: 'authorizationService',
    path: 'authorization-services',
    one: 'an authorization service',
    many: 'authorization services',
    label: 'authorization service',
    description: 'What clients protect, and the policies that say who may do what with it',
    read: 'clients:read',
    write: 'clients:write',
    key: 'clientId',
    at: 'id',
    resource: 'Realm',
    noun: 'authorization-services',
    columns: [
      { field: 'enforcement', head: 'enforcement', cell: 'text', shown: true },
      { field: 'resources', head: 'resources', cell: 'number', shown: true },
      { field: 'policies', head: 'policies', cell: 'number', shown: true },
      { field: 'permissions', head: 'permissions', cell: 'number', shown: true },
      { field: 'scopes', head: 'scopes', cell: 'number' },
    ],
    load: async () => {
      const {
        deleteAuthorizationService,
        getAuthorizationService,
        listAuthorizationServices,
        putAuthorizationService,
      } = await import('../../server/contract/authorization-service-routes.ts');
      return {
        routes: {
          list: listAuthorizationServices,
          get: getAuthorizationService,
          put: putAuthorizationService,
          remove: deleteAuthorizationService,
        },
        input: putAuthorizationService.body,
      };
    },
  },
];
