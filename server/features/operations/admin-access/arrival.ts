// The page to which the realm's own sign-in returns an administrator, after its flow and risk policy: the admin session
// begins here. Its path is below the realm, because the browser sends the realm's cookies only there.
import type { FastifyInstance } from 'fastify';
import { z } from 'zod';
import { Problem } from '../../../contract/problem.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';
import type { Transact } from '../../../db/transact.ts';
import { type Factors, provenSince, SECOND_FACTOR } from '../../../domain/factors.ts';
import { html } from '../../../http/html.ts';
import { adminArrivalPath } from '../../../http/own-addresses.ts';
import { sendPage } from '../../../http/pages.ts';
import { text } from '../../../http/texts.ts';
import type { SignIns } from '../../authentication/sign-in/service.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { setSession } from './cookies.ts';
import type { AdminSignIn } from './sign-in.ts';

export interface ArrivalDeps {
  signIns: Pick<SignIns, 'take' | 'begin'>;
  sessions: Pick<Sessions, 'current' | 'end' | 'clearCookie'>;
  signIn: Pick<AdminSignIn, 'admit'>;
  settings: { of(realm: string): Promise<RealmSettingsDto | undefined> };
  factors: Pick<Factors, 'haveSecond'>;
  transact: Transact;
  baseUrl: string;
}

const Params = z.object({ realm: z.string() });
/** `fresh`: the realm's session was begun only for this admin sign-in, so it ends afterwards. */
const Asked = z.object({ fresh: z.boolean() });

export function adminArrival(app: FastifyInstance, deps: ArrivalDeps): void {
  const { signIns, sessions, signIn, settings, factors, transact, baseUrl } = deps;

  app.get(adminArrivalPath(':realm'), { schema: { hide: true } }, async (request, reply) => {
    const { realm } = Params.parse(request.params);
    const brand = await settings.of(realm);
    if (!brand) throw new Problem('not-found', text('admin.noRealm'));
    const here = adminArrivalPath(realm);
    const taken = await signIns.take(reply, request, realm, here);
    const session = await sessions.current(request, realm);
    if (!taken || session?.id !== taken.done.sessionId) return reply.redirect('/admin/login', 303);
    const asked = Asked.parse(taken.request);
    const more = factors.haveSecond(session.standing.types);
    // An administrator with a second factor proves it here, even if the flow doesn't ask for it.
    if (more && taken.done.level < SECOND_FACTOR) {
      const step = { realm, requiredLevel: SECOND_FACTOR, session, forced: false, request: asked, continueAt: here };
      return signIns.begin(reply, request, step);
    }
    // Proofs from before this sign-in don't count, even if the realm's session has them.
    const proven = provenSince(session.factors, taken.done.since);
    const cookie = await signIn.admit(request, realm, { ...session, factors: proven });
    if (asked.fresh) {
      const by = {
        actor: { type: 'user', id: session.userId, name: session.username },
        ipAddress: request.ip,
      } as const;
      await transact(realm, async (tx) => void (await sessions.end(tx, realm, by, session.id, { because: 'logout' })));
      sessions.clearCookie(reply, realm);
    }
    if (cookie !== undefined) {
      setSession(reply, baseUrl, cookie);
      return reply.redirect('/admin/login', 303);
    }
    const title = text('admin.notSignedIn');
    const body = html`<div class="error" role="alert"><p>${text('admin.noRoles', { name: session.username })}</p></div>
<div class="actions"><a class="button full" href="/admin/login">${text('admin.somebodyElse')}</a></div>`;
    return sendPage(reply, { realm, brand, title, body }, { status: 403 });
  });
}
