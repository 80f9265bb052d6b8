// Renders every failure of the SCIM server in the form of RFC 7644 §3.12. It reveals as much as a problem does
// (problems.ts).
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Problem, problems } from '../contract/problem.ts';
import { SCIM_ERROR, type ScimType, scimTypes } from '../contract/scim-error.ts';
import { detailOf, logProblem, problemOf } from './problems.ts';

export const SCIM_JSON = 'application/scim+json; charset=utf-8';

function scimTypeOf({ code, errors, extra }: Problem): ScimType | undefined {
  const said = scimTypes.find((type) => type === extra?.scimType);
  if (said !== undefined) return said;
  if (code === 'name-taken') return 'uniqueness';
  if (code === 'invalid-request') return errors ? 'invalidValue' : 'invalidSyntax';
  return undefined;
}

export function scimErrorOf(error: unknown) {
  const problem = problemOf(error);
  const scimType = scimTypeOf(problem);
  return {
    schemas: [SCIM_ERROR],
    status: String(problem.status),
    ...(scimType !== undefined && { scimType }),
    detail: detailOf(problem) ?? problems[problem.code].title,
  };
}

/** Fastify's error handler of the surface. */
export function sendScimError(error: unknown, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const problem = problemOf(error);
  logProblem(request, problem);
  if (problem.retryAfterSeconds !== undefined) void reply.header('retry-after', String(problem.retryAfterSeconds));
  return reply
    .code(problem.status)
    .header('content-type', SCIM_JSON)
    .header('cache-control', 'no-store')
    .serializer((body: unknown) => JSON.stringify(body))
    .send(scimErrorOf(problem));
}

/** Marks the response as SCIM's JSON. */
export const asScim = (reply: FastifyReply): FastifyReply => reply.header('content-type', SCIM_JSON);
