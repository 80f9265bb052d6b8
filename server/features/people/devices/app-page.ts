// What somebody sees in whose browser an address for their app was opened: what to do with it, never what programs are told.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import { type Brand, html, sendPage } from '../../../http/pages.ts';
import { pathRealm } from '../../../http/path-realm.ts';
import { text } from '../../../http/texts.ts';

export const sendForApp = (
  reply: FastifyReply,
  { status = 200, ...look }: { status?: number; realm?: string | undefined; brand?: Brand | undefined },
): FastifyReply => {
  const body = html`<p class="lead">${text('deviceKey.forAppLead')}</p>`;
  return sendPage(reply, { ...look, title: text('deviceKey.forApp'), body }, { status });
};

/** The address in the code by which a device is set up; the token in it never leaves the browser. */
export function appPageRoutes(
  app: FastifyInstance,
  { settings }: { settings: { of(realm: string): Promise<RealmSettingsDto | undefined> } },
): void {
  app.get('/realms/:realm/device/enroll', { schema: { hide: true } }, async (request, reply) => {
    const realm = pathRealm(request);
    const brand = realm === undefined ? undefined : await settings.of(realm);
    return brand ? sendForApp(reply, { realm, brand }) : reply.callNotFound();
  });
}
