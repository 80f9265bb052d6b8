// The address in the mail about a sign-in on a new device. GET changes nothing, because mail scanners open links, too.

import type { FastifyInstance, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { phrase } from '../../../contract/phrases.ts';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { isFromElsewhere, siteOf } from '../../../domain/site.ts';
import { text } from '../../../http/texts.ts';
import { sendEnded, sendNotMe, sendUseless } from './pages.ts';
import type { NewDevices } from './service.ts';

const Params = z.object({ realm: z.string() });
const token = z.string().max(200).catch('');
const Query = z.object({ token, done: z.string().optional().catch(undefined) });
const Form = z.object({ token }).catch({ token: '' });

export interface NewDeviceRoutesDeps {
  newDevices: NewDevices;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  /** Whether users can set a new password by a mailed link. */
  recovers(realm: string, settings: RealmSettingsDto): Promise<boolean>;
  baseUrl: string;
}

export function newDeviceRoutes(app: FastifyInstance, deps: NewDeviceRoutesDeps): void {
  const { newDevices, settings, recovers, baseUrl } = deps;
  const path = '/realms/:realm/login/not-me';

  async function place(request: FastifyRequest) {
    const { realm } = Params.parse(request.params);
    const policy = await settings.of(realm);
    if (!policy) throw new Problem('not-found', phrase('noRealm'));
    return { realm, settings: policy };
  }

  app.get(path, { schema: { hide: true } }, async (request, reply) => {
    const here = await place(request);
    const { token: secret, done } = Query.parse(request.query);
    if (done !== undefined) return sendEnded(reply, here, { passwordOff: done === 'password' });
    const found = await newDevices.look(here.realm, secret);
    return found ? sendNotMe(reply, here, { token: secret, ...found }) : sendUseless(reply, here);
  });

  app.post(path, { schema: { hide: true } }, async (request, reply) => {
    const here = await place(request);
    if (isFromElsewhere(request, siteOf(request, here.settings, baseUrl)))
      throw new Problem('csrf-mismatch', text('recover.elsewhere'));
    const reported = await newDevices.report(here.realm, Form.parse(request.body ?? {}).token, request.ip);
    if (!reported) return sendUseless(reply, here);
    const leads = reported.reset !== undefined && (await recovers(here.realm, here.settings));
    const at = leads
      ? `reset?${new URLSearchParams({ token: reported.reset ?? '' })}`
      : `not-me?done=${reported.hasPassword ? 'password' : 'all'}`;
    return reply.redirect(`/realms/${here.realm}/login/${at}`, 303);
  });
}
