// The addresses of a forgotten password: /login/forgot sends a link, /login/reset is the page that it opens. GET changes
// nothing, because mail scanners open links, too.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { inRealm, type RateLimit } from '../../../domain/rate-limit.ts';
import { isFromElsewhere, siteOf } from '../../../domain/site.ts';
import { text } from '../../../http/texts.ts';
import { sendChanged, sendChoose, sendForgot, sendLookIntoMail, sendOver } from './pages.ts';
import type { Recovery } from './service.ts';

const ASKED_MAX = 2000;
const NAME_MAX = 255;
const Params = z.object({ realm: z.string() });
const short = z
  .string()
  .max(ASKED_MAX)
  .refine((value) => !value.includes('\0'))
  .optional()
  .catch(undefined);
const Query = z.object({ asked: short, token: short, sent: short, done: short });
const field = z.string().max(2000).optional().catch(undefined);
const Form = z.object({ asked: short, token: field, username: field, password: field, repeated: field }).catch({});

export interface RecoveryRoutesDeps {
  recovery: Recovery;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  /** Whether users of the realm can get a link by mail. */
  offered(realm: string, settings: RealmSettingsDto): Promise<boolean>;
  /** The address that starts the same sign-in again. */
  signInFor(realm: string, asked: string | undefined): string;
  /** Limits the requests of one client address. */
  attempts: Pick<RateLimit, 'take'>;
  baseUrl: string;
}

export function recoveryRoutes(app: FastifyInstance, deps: RecoveryRoutesDeps): void {
  const { recovery, settings, offered, signInFor, attempts, baseUrl } = deps;

  async function place(request: FastifyRequest) {
    const { realm } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    if (!(await offered(realm, policy))) throw new Problem('not-found', text('recover.notOffered'));
    return { realm, policy };
  }
  const at = (realm: string, policy: RealmSettingsDto, asked: string | undefined) => ({
    realm,
    settings: policy,
    asked,
    signIn: signInFor(realm, asked),
  });
  function refuseElsewhere(request: FastifyRequest, policy: RealmSettingsDto): void {
    if (isFromElsewhere(request, siteOf(request, policy, baseUrl)))
      throw new Problem('csrf-mismatch', text('recover.elsewhere'));
  }

  const forgot = '/realms/:realm/login/forgot';
  app.get(forgot, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await place(request);
    const { asked, sent } = Query.parse(request.query);
    const here = at(realm, policy, asked);
    return sent === undefined ? sendForgot(reply, here) : sendLookIntoMail(reply, here);
  });
  app.post(forgot, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await place(request);
    refuseElsewhere(request, policy);
    const { asked, username = '' } = Form.parse(request.body ?? {});
    const name = username.trim().slice(0, NAME_MAX);
    if (name === '' || name.includes('\0')) return sendForgot(reply, at(realm, policy, asked), { missing: true });
    const retryAfterSeconds = attempts.take(inRealm(realm, request.ip));
    if (retryAfterSeconds !== undefined)
      throw new Problem('too-many-requests', text('recover.tooMany'), { retryAfterSeconds });
    const { origin } = siteOf(request, policy, baseUrl);
    await recovery.ask({ realm, name, origin, by: { actor: null, ipAddress: request.ip }, asked });
    const query = new URLSearchParams({ sent: '1', ...(asked !== undefined && { asked }) });
    return reply.redirect(`/realms/${realm}/login/forgot?${query}`, 303);
  });

  const reset = '/realms/:realm/login/reset';
  app.get(reset, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await place(request);
    const { asked, token = '', done } = Query.parse(request.query);
    if (done !== undefined) return sendChanged(reply, at(realm, policy, asked));
    const found = await recovery.look(realm, token);
    const here = { realm, settings: policy };
    return found ? sendChoose(reply, here, { token, username: found.username }) : sendOver(reply, here);
  });
  app.post(reset, { schema: { hide: true } }, async (request, reply) => {
    const { realm, policy } = await place(request);
    refuseElsewhere(request, policy);
    const { token = '', password, repeated } = Form.parse(request.body ?? {});
    const here = { realm, settings: policy };
    const found = await recovery.look(realm, token);
    if (!found) return sendOver(reply, here);
    const verdict = await recovery.set(realm, token, { password, repeated }, request.ip);
    if (verdict.do === 'over') return sendOver(reply, here);
    if (verdict.do === 'again')
      return sendChoose(reply, here, { token, username: found.username, faults: verdict.faults });
    const query = new URLSearchParams({ done: '1', ...(verdict.asked !== null && { asked: verdict.asked }) });
    return reply.redirect(`/realms/${realm}/login/reset?${query}`, 303);
  });
}
