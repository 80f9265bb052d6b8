// Binds the routes of realm roles beyond a plain resource's: default roles.
import type { FastifyInstance } from 'fastify';
import { putDefaultRole, Role } from '../../../contract/roles.ts';
import { bind } from '../../../http/bind.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import type { Resource } from '../../../resource/resource.ts';
import { callerOf } from '../../../resource/routes.ts';

export function roleRoutes(app: FastifyInstance, { api, roles }: { api: ResourceApi; roles: Resource }): void {
  bind(app, putDefaultRole, async (call) => {
    const { realm, id } = call.params;
    const input = { default: call.body?.default ?? true };
    return Role.parse(roles.toWire(realm, await api.replace(roles, callerOf(call), realm, { id }, input)));
  });
}
