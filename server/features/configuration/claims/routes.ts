// Mounts the routes of protocol mappers, which lie below their client.
import type { FastifyInstance } from 'fastify';
import { protocolMapperRoutes } from '../../../contract/protocol-mappers.ts';
import type { Sql } from '../../../db/sql.ts';
import type { ResourceApi } from '../../../resource/api.ts';
import { inClient } from '../../../resource/in-client.ts';
import type { Resource } from '../../../resource/resource.ts';
import { mountResource } from '../../../resource/routes.ts';

export const mapperRoutes = (
  app: FastifyInstance,
  { api, sql, mappers }: { api: ResourceApi; sql: Sql; mappers: Resource },
): void => {
  const within = { ...inClient(sql), id: 'mapperId' };
  mountResource(app, { api, sql, of: mappers, routes: protocolMapperRoutes, within });
};
