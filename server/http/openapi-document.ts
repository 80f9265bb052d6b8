// The OpenAPI document, generated from the mounted routes, and the page that shows it: an application of its own, to
// which the server passes requests (openapi.ts). Specification 1.
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
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
import { Problem } from '../contract/problem.ts';
import { namesTag } from './etag.ts';
import { zodAlone } from './fastify.ts';
import { answerNotFound } from './not-found.ts';
import { answersOf, inWords, operationOf, type Responses, securitySchemes } from './openapi-operations.ts';
import { sendProblem } from './problems.ts';

/**
 * The page has the origin of the admin session, so only its own script runs, and no frame may contain it. Its styles
 * are inline.
 */
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

/**
 * Runs in the page, so it may use nothing outside of itself: adds the CSRF cookie's value to writes, as admin routes
 * require.
 */
function sendCsrf<R extends object>(request: R): R {
  const cookies: string = Reflect.get(globalThis, 'document').cookie;
  const token = /(?:^|; )XSRF-TOKEN=([^;]+)/.exec(cookies)?.[1];
  if (token) Object.assign(Reflect.get(Object(request), 'headers'), { 'X-XSRF-TOKEN': token });
  return request;
}

/** @param routes the server's mounted routes; this application only describes them and answers none */
export async function documentationOf(
  routes: readonly RouteOptions[],
  { baseUrl, version }: { baseUrl: string; version: string },
): Promise<FastifyInstance> {
  const app: FastifyInstance = Fastify({ schemaController: zodAlone });
  app.setValidatorCompiler(validatorCompiler);
  app.setSerializerCompiler(serializerCompiler);
  app.setErrorHandler(sendProblem);
  answerNotFound(app);
  app.addHook('onRequest', async (_, reply) => {
    void reply.header('referrer-policy', 'no-referrer');
  });
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Realmkeeper',
        version,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
        description:
          'Admin API under /admin/realms/{realm}; protocol endpoints under /realms/{realm}; monitoring under /actuator.',
      },
      servers: [{ url: baseUrl }],
      components: {
        securitySchemes,
      },
    },
    transform: (args) => {
      const contract = args.route.config?.contract;
      if (!contract) return unfilled(jsonSchemaTransform(args));
      // A streamed body isn't in the route's schema, but the contract describes it.
      const streamed = !args.schema?.body && !(contract.body instanceof z.ZodUndefined);
      const schema = {
        ...args.schema,
        ...(streamed ? { body: contract.body } : {}),
        ...operationOf(contract),
      };
      return { ...unfilled(jsonSchemaTransform({ ...args, schema })), url: contract.path.replace('*', ':') };
    },
    transformObject: (documents) => tidy(complete(jsonSchemaTransformObject(documents), routes)),
  });
  await app.register(swaggerUi, {
    routePrefix: '/swagger-ui',
    staticCSP: UI_POLICY,
    // Collapsed and without the list of schemas: with its hundreds of operations open, the page took seconds.
    uiConfig: {
      requestInterceptor: sendCsrf,
      filter: true,
      docExpansion: 'none',
      tagsSorter: 'alpha',
      defaultModelsExpandDepth: -1,
    },
    // the top bar has the framework's logo and a field for other documents, which the page's policy doesn't let load
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
  let printed: Promise<PrintedDocument> | undefined;
  app.get('/v3/api-docs', { schema: { hide: true } }, async ({ headers }, reply) => {
    printed ??= printDocument(app.swagger());
    const { plain, compressed, etag } = await printed;
    void reply.headers({ etag, vary: 'accept-encoding', 'cache-control': 'no-cache' });
    const known = headers['if-none-match'];
    if (known !== undefined && namesTag(known, etag)) return reply.code(304).send();
    void reply.type('application/json; charset=utf-8');
    return acceptsGzip(headers['accept-encoding'])
      ? reply.header('content-encoding', 'gzip').send(compressed)
      : reply.send(plain);
  });
  await app.ready();
  return app;
}

/** The document as bytes: it is printed and compressed once, however often it is requested. */
interface PrintedDocument {
  plain: Buffer;
  compressed: Buffer;
  etag: string;
}
async function printDocument(document: object): Promise<PrintedDocument> {
  const plain = Buffer.from(JSON.stringify(document));
  const digest = createHash('sha256').update(plain).digest('base64url');
  // The same tag for both encodings, so it is weak (RFC 9110 §8.8.1).
  return { plain, compressed: await promisify(gzip)(plain), etag: `W/"${digest}"` };
}

/** RFC 9110 §12.5.3, without weights but 0. */
const acceptsGzip = (header: string | string[] | undefined): boolean =>
  String(header ?? '')
    .toLowerCase()
    .split(',')
    .some((one) => /^\s*(?:gzip|\*)\s*(?:$|;)/.test(one) && !/;\s*q=0(?:\.0*)?\s*$/.test(one));

type Printed = ReturnType<typeof jsonSchemaTransform>;

/** Removes examples of path parameters: the page would fill them in, and no object has such a name. */
function unfilled(printed: Printed): Printed {
  const parameters = Object.values(Object(Object(printed.schema?.params).properties));
  for (const parameter of parameters) delete Object(parameter).examples;
  return printed;
}

interface Document {
  paths?: object;
  components?: { schemas?: object; securitySchemes?: object };
}
interface Operation {
  tags?: string[];
  requestBody?: { required?: boolean; content: Record<string, { schema?: object }> };
  responses: Responses;
}

/** Adds data that the routes' schemas can't contain: the contract's responses, and an example of the body. */
function complete<D extends Document>(document: D, routes: readonly RouteOptions[]): D {
  const contracts = new Map(
    routes.flatMap(({ config }) => {
      const { contract } = config ?? {};
      return contract ? [[`${contract.method} ${contract.path.replace(/[:*](\w+)/g, '{$1}')}`, contract]] : [];
    }),
  );
  const responses: Responses = {};
  const tags = new Set<string>();
  for (const [path, item] of Object.entries(document.paths ?? {}))
    for (const [method, operation] of Object.entries<Operation>(item)) {
      for (const tag of operation.tags ?? []) tags.add(tag);
      operation.responses = inWords(operation.responses);
      const contract = contracts.get(`${method.toUpperCase()} ${path}`);
      if (!contract) continue;
      operation.responses = answersOf(contract, operation.responses, responses);
      const body = operation.requestBody?.content['application/json'];
      if (operation.requestBody && contract.body.safeParse(undefined).success) operation.requestBody.required = false;
      if (body && contract.example !== undefined) Object.assign(body, { example: contract.example });
    }
  return {
    ...document,
    tags: [...tags].sort().map((name) => ({ name })),
    components: { ...document.components, responses: sortedByName(responses) },
  };
}

const sortedByName = <T>(entries: Record<string, T>): Record<string, T> =>
  Object.fromEntries(Object.entries(entries).sort(([one], [other]) => (one < other ? -1 : 1)));

/** Removes unused schemas and security schemes, and sorts them by name: otherwise the order would depend on that of imports. */
function tidy<D extends Document>(document: D): D {
  const schemas: Record<string, unknown> = { ...document.components?.schemas };
  for (let removed = true; removed; ) {
    const whole = JSON.stringify({ ...document, components: { ...document.components, schemas } });
    const unused = Object.keys(schemas).filter((name) => !whole.includes(`"#/components/schemas/${name}"`));
    for (const name of unused) delete schemas[name];
    removed = unused.length > 0;
  }
  const paths = JSON.stringify(document.paths);
  const securitySchemes = Object.fromEntries(
    Object.entries({ ...document.components?.securitySchemes }).filter(([name]) => paths.includes(`"${name}":[]`)),
  );
  return { ...document, components: { ...document.components, securitySchemes, schemas: sortedByName(schemas) } };
}
