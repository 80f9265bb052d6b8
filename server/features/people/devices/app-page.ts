// The page for an address that only the authenticator app should open: it tells the user what to do, and reveals
// nothing that the app gets.
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

/** The page at the address in the enrolment QR code. The token stands behind the `#`, so the browser never sends it. */
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
