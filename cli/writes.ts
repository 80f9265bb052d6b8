// Owns: where `create`, `edit` and `delete` send the fields of a kind: the routes of its contract, and its address.
// Does not own: finding and showing (kinds.ts), asking and editing (commands/write.ts).
// Implements: decisions "Reading and writing": a field that is left out of PUT keeps its value; If-Match.
import { z } from 'zod';
import { adminRoleRoutes } from '../server/contract/admin-access.ts';
import { agentRoutes } from '../server/contract/agents.ts';
import { applicationRoutes } from '../server/contract/applications.ts';
import {
  deleteAuthorizationService,
  putAuthorizationService,
} from '../server/contract/authorization-service-routes.ts';
import { claimRoutes } from '../server/contract/claims.ts';
import { clientScopeRoutes } from '../server/contract/client-scopes.ts';
import { clientRoutes } from '../server/contract/clients.ts';
import { createFlow, deleteFlow, putFlow } from '../server/contract/flows.ts';
import { groupRoutes } from '../server/contract/groups.ts';
import { identityProviderRoutes } from '../server/contract/identity-providers.ts';
import { deleteKey } from '../server/contract/keys.ts';
import { deleteMessageTemplate, putMessageTemplate } from '../server/contract/message-templates.ts';
import { deleteMessagingProvider, putMessagingProvider } from '../server/contract/messaging.ts';
import { organizationRoutes } from '../server/contract/organizations.ts';
import { createRealm, deleteRealm } from '../server/contract/realms.ts';
import { roleRoutes } from '../server/contract/roles.ts';
import type { Route } from '../server/contract/route.ts';
import { samlClientRoutes } from '../server/contract/saml-clients.ts';
import { scimTargetRoutes } from '../server/contract/scim-targets.ts';
import { endSession } from '../server/contract/sessions.ts';
import { createUser, deleteUser, putUser } from '../server/contract/users.ts';
import { webhookRoutes } from '../server/contract/webhooks.ts';
import { workloadIdentityRoutes } from '../server/contract/workload-identity.ts';

export type WriteRoute = Pick<Route, 'method' | 'path' | 'body'>;

export interface Writes {
  create?: WriteRoute;
  put?: WriteRoute;
  remove?: WriteRoute;
  /** What the path says beside the realm, of an object as it is listed. */
  at(value: object): Record<string, string>;
}

const fields =
  (...names: string[]) =>
  (value: object): Record<string, string> =>
    Object.fromEntries(names.map((name) => [name, String(Reflect.get(value, name) ?? '')]));
const byId = fields('id');

/** By the plural of the kind; what is missing can't be written so. */
export const writes: Readonly<Record<string, Writes>> = {
  realms: { create: createRealm, remove: deleteRealm, at: fields('realm') },
  clients: { ...clientRoutes, at: byId },
  users: {
    create: createUser,
    put: putUser,
    remove: deleteUser,
    at: (value) => ({ userId: String(Reflect.get(value, 'id')) }),
  },
  roles: { ...roleRoutes, at: byId },
  groups: { ...groupRoutes, at: byId },
  organizations: { ...organizationRoutes, at: byId },
  applications: { ...applicationRoutes, at: fields('name') },
  claims: { ...claimRoutes, at: byId },
  'client-scopes': { ...clientScopeRoutes, at: byId },
  'identity-providers': { ...identityProviderRoutes, at: fields('alias') },
  'saml-clients': { ...samlClientRoutes, at: byId },
  'scim-targets': { ...scimTargetRoutes, at: byId },
  'authorization-services': {
    put: putAuthorizationService,
    remove: deleteAuthorizationService,
    at: (value) => ({ clientId: String(Reflect.get(value, 'id')) }),
  },
  flows: { create: createFlow, put: putFlow, remove: deleteFlow, at: fields('alias') },
  agents: { ...agentRoutes, at: byId },
  webhooks: { ...webhookRoutes, at: byId },
  'workload-identities': { ...workloadIdentityRoutes, at: byId },
  'messaging-providers': {
    create: putMessagingProvider,
    put: putMessagingProvider,
    remove: deleteMessagingProvider,
    at: fields('channel', 'driver'),
  },
  'message-templates': {
    create: putMessageTemplate,
    put: putMessageTemplate,
    remove: deleteMessageTemplate,
    at: fields('templateKey', 'channel', 'locale'),
  },
  'admin-roles': { ...adminRoleRoutes, at: byId },
  keys: { remove: deleteKey, at: fields('keyId') },
  sessions: { remove: endSession, at: byId },
};

export interface Flag {
  /** `redirectUris` */
  field: string;
  /** `--redirect-uris` */
  long: string;
  of: 'text' | 'number' | 'flag' | 'list';
  about: string;
  choices: readonly string[] | undefined;
}

/** What may be said as options: plain fields of the body, and never what is secret. */
export function flagsOf({ body }: WriteRoute): Flag[] {
  if (!(body instanceof z.ZodObject)) return [];
  return Object.entries<z.ZodType>(body.shape).flatMap(([field, schema]): Flag[] => {
    const inner = bare(schema);
    const of = sortOf(inner);
    if (!of || /(secret|password)$/i.test(field)) return [];
    const choices = inner instanceof z.ZodEnum ? inner.options.map(String) : undefined;
    const long = `--${field.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;
    return [{ field, long, of, about: schema.description ?? inner.description ?? '', choices }];
  });
}

/** The fields that a body takes; undefined: not known. */
export const fieldsOf = ({ body }: WriteRoute): ReadonlySet<string> | undefined =>
  body instanceof z.ZodObject ? new Set(Object.keys(body.shape)) : undefined;

function bare(schema: z.ZodType): z.ZodType {
  const { innerType } = schema.def as { innerType?: z.ZodType }; // of optional, nullable, default: zod has no common name for them
  return innerType ? bare(innerType) : schema;
}

function sortOf(schema: z.ZodType): Flag['of'] | undefined {
  if (schema instanceof z.ZodBoolean) return 'flag';
  if (schema instanceof z.ZodNumber) return 'number';
  if (schema instanceof z.ZodString || schema instanceof z.ZodEnum || schema instanceof z.ZodURL) return 'text';
  if (!(schema instanceof z.ZodArray)) return undefined;
  const element = bare(schema.element as z.ZodType); // an array's element is typed as core's
  return element instanceof z.ZodString || element instanceof z.ZodEnum || element instanceof z.ZodURL
    ? 'list'
    : undefined;
}
