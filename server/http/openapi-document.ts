// The OpenAPI document, printed from the routes that are really mounted, and the page that shows it: an application of its
// own, which the server's hands the requests to (openapi.ts). Specification 1.
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import Fastify, { type FastifyInstance, type RouteOptions } from 'fastify';
import {
  jsonSchemaTransform,
  jsonSchemaTransformObject,
  serializerCompiler,
  validatorCompiler,
} from 'fastify-type-provider-zod';
import { z } from 'zod';
import { Problem, problems } from '../contract/problem.ts';
import type { Route } from '../contract/route.ts';
import { zodAlone } from './fastify.ts';
import { answerNotFound } from './not-found.ts';
import { sendProblem } from './problems.ts';

/** The page is of the admin session's origin: no script but its own, and nobody may frame it. Its styles are inline. */
const UI_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Printed into the page, so it stands on its own: a write sends the CSRF cookie's value as admin routes want it. */
function sendCsrf<R extends object>(request: R): R {
  const cookies: string = Reflect.get(globalThis, 'document').cookie;
  const token = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(cookies)?.[1];
  if (token) Object.assign(Reflect.get(Object(request), 'headers'), { 'X-XSRF-TOKEN': token });
  return request;
}

/** @param routes as they are mounted in the server; here they are only described, none of them answers */
export async function documentationOf(
  routes: readonly RouteOptions[],
  { baseUrl, version }: { baseUrl: string; version: string },
): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({ schemaController: zodAlone });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendProblem);
  answerNotFound(app);
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
          session: { type: 'apiKey', in: 'cookie', name: 'SVC_SESSION' },
          personBearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'An access token of the realm for the person, with the scope account',
          },
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description:
              'An access token for the audience {base_url}/admin: of a client that holds admin roles, or of a person by the client realmctl',
          },
        },
      },
    },
    transform: (args) => {
      const contract = args.route.config?.contract;
      if (!contract) return unfilled(jsonSchemaTransform(args));
      // A streamed body isn't in the route's schema; the contract still says what it is.
      const streamed = !args.schema?.body && !(contract.body instanceof z.ZodUndefined);
      const schema = {
        ...args.schema,
        ...(streamed ? { body: contract.body } : {}),
        description: describe(contract),
        security: securityOf(contract),
      };
      return withExample(unfilled(jsonSchemaTransform({ ...args, schema })), contract);
    },
    transformObject: (documents) => tidy(jsonSchemaTransformObject(documents)),
  });
  await app.register(swaggerUi, {
    routePrefix: '/swagger-ui',
    staticCSP: UI_POLICY,
    uiConfig: { requestInterceptor: sendCsrf, filter: true },
    // the bar on top has the framework's logo and a field for other documents, which the policy forbids to load
    theme: {
      title: 'Realmkeeper API',
      css: [{ filename: 'realmkeeper.css', content: '.swagger-ui .topbar { display: none }' }],
    },
  });
  const sorted = routes.toSorted((a, b) => (a.url < b.url ? -1 : a.url > b.url ? 1 : 0));
  for (const { method, url, schema, config } of sorted) {
    if (method === 'HEAD' || schema?.hide) continue;
    app.route({
      method,
      url,
      ...(schema && { schema }),
      ...(config && { config }),
      handler: () => Promise.reject(new Problem('not-found')),
    });
  }
  app.get('/v3/api-docs', { schema: { hide: true } }, async () => app.swagger());
  await app.ready();
  return app;
}

type Printed = ReturnType<typeof jsonSchemaTransform>;

/** The page would fill an example in where a path asks for a name, and what has that name is nobody's. */
function unfilled(printed: Printed): Printed {
  const parameters = Object.values(Object(Object(printed.schema?.params).properties));
  for (const parameter of parameters) delete Object(parameter).examples;
  return printed;
}

/** A schema that is only referred to can have nothing beside it. */
function withExample({ schema, url }: Printed, { example }: Route): Printed {
  if (example === undefined) return { schema, url };
  const { body } = schema;
  const named = Object(body).$ref === undefined ? Object(body) : { allOf: [body] };
  return { schema: { ...schema, body: { ...named, examples: [example] } }, url };
}

/** What the contract says beyond the schemas: the permission, and the refusals that this route is known for. */
function securityOf({ path, principal }: Route): Record<string, string[]>[] {
  if (principal === 'person') return [{ session: [] }, { personBearer: [] }];
  return path === '/admin/login' ? [] : [{ adminSession: [] }, { bearer: [] }];
}

function describe({ description, permission, problems: codes }: Route): string {
  const needs = permission === null ? '' : `Needs the permission \`${permission}\`.`;
  const refusals = codes.map((code) => `\`${code}\` (${problems[code].status})`).join(', ');
  return [description, needs, refusals === '' ? '' : `Problems: ${refusals}.`].filter(Boolean).join('\n\n');
}

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** Leaves out schemas that nothing refers to, and gives problems their own media type (RFC 9457). */
function tidy(document: Document): Document {
  const text = JSON.stringify(document, (key, value) => {
    if (key !== 'default' || typeof value !== 'object' || value === null) return value;
    const content = value.content?.['application/json'];
    return content?.schema?.$ref === '#/components/schemas/ProblemDetails'
      ? { ...value, content: { 'application/problem+json': content } }
      : value;
  });
  const tidied: Document & { components?: { schemas?: Record<string, unknown> } } = JSON.parse(text);
  const schemas = tidied.components?.schemas;
  if (!schemas) return tidied;
  for (let removed = true; removed; ) {
    const whole = JSON.stringify(tidied);
    const unused = Object.keys(schemas).filter((name) => !whole.includes(`"#/components/schemas/${name}"`));
    for (const name of unused) delete schemas[name];
    removed = unused.length > 0;
  }
  // By name: otherwise the order would be that in which modules happen to be imported.
  const sorted = Object.entries(schemas).sort(([one], [other]) => (one < other ? -1 : 1));
  for (const [name, schema] of sorted) {
    delete schemas[name];
    schemas[name] = schema;
  }
  return tidied;
}
