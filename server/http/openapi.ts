// The OpenAPI document, printed from the routes that are really mounted, and the page that shows it.
// Specification 1: GET /v3/api-docs, GET /swagger-ui.html.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** Must be registered before the routes. */
export async function describeRoutes(
  app: FastifyInstance,
  { baseUrl, version }: { baseUrl: string; version: string },
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Realmkeeper',
        version,
        description:
          'Admin API under /admin/realms/{realm}; protocol endpoints under /realms/{realm}; monitoring under /actuator.',
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes: {
          adminSession: { type: 'apiKey', in: 'cookie', name: 'SVC_ADMIN_SESSION' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    transform: (args) => {
      const contract = args.route.config?.contract;
      // A streamed body isn't in the route's schema; the contract still says what it is.
      if (contract && !args.schema?.body && !(contract.body instanceof z.ZodUndefined)) {
        return jsonSchemaTransform({ ...args, schema: { ...args.schema, body: contract.body } });
      }
      return jsonSchemaTransform(args);
    },
    transformObject: jsonSchemaTransformObject,
  });
  await app.register(swaggerUi, { routePrefix: '/swagger-ui', staticCSP: false });
  app.get('/v3/api-docs', { schema: { hide: true } }, async () => app.swagger());
  app.get('/swagger-ui.html', { schema: { hide: true } }, async (_, reply) => reply.redirect('/swagger-ui/'));
}
