// Connects an identity provider to the account of a signed-in user, outside of any sign-in. A cookie of ten minutes binds
// the way to the provider and back to the session.
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { newSecret, sameSecret } from '../../../crypto/tokens.ts';
import type { Transact } from '../../../db/transact.ts';
import { linkDigest } from '../../../domain/links.ts';
import { userParty } from '../../../domain/party.ts';
import { isWithdrawn, mustHold } from '../../../domain/proof.ts';
import { realmCookie } from '../../../http/realm-cookie.ts';
import type { Notify } from '../../configuration/messaging/notify.ts';
import type { LiveSession, Sessions } from '../../people/sessions/service.ts';
import { applyProvided } from '../../people/users/provided.ts';
import type { Links } from './links.ts';
import { arrivedBy } from './person.ts';
import type { ProviderTokens } from './provider-tokens.ts';
import type { Provider, Providers } from './providers.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

const LIFE_MS = 10 * 60_000;
const Away = z.object({
  alias: z.string(),
  state: z.string(),
  luggage: z.record(z.string(), z.string()),
  callback: z.string(),
  sessionId: z.string(),
  at: z.number(),
});
type Away = z.infer<typeof Away>;

export interface ConnectionsDeps {
  providers: Pick<Providers, 'enabled' | 'named'>;
  upstreams: Readonly<Partial<Record<Provider['type'], Upstream>>>;
  links: Pick<Links, 'find' | 'make'>;
  providerTokens: Pick<ProviderTokens, 'note'>;
  sessions: Pick<Sessions, 'current'>;
  notify: Notify;
  transact: Transact;
  seal: Seal;
  baseUrl: string;
  now: () => Date;
}

export function createConnections(deps: ConnectionsDeps) {
  const { providers, upstreams, links, providerTokens, sessions, notify, transact, seal, baseUrl, now } = deps;
  const cookie = realmCookie(baseUrl, 'SVC_CONNECT');
  const contextOf = (realm: string): string => `brokering-connect:${realm}`;
  const offers = ({ hidden, linking, type }: Provider): boolean => !hidden && linking === 'ask' && type in upstreams;

  function opened(request: FastifyRequest, realm: string): Away | undefined {
    try {
      const text = request.cookies[cookie.nameIn(realm)] ?? '';
      const away = Away.parse(JSON.parse(seal.open(Buffer.from(text, 'base64url'), contextOf(realm)).toString()));
      return now().getTime() - away.at > LIFE_MS ? undefined : away;
    } catch {
      return undefined;
    }
  }

  /** @returns whether the identity is linked to this user now */
  async function connected(by: By, realm: string, provider: Provider, session: LiveSession, identity: Identity) {
    const arrived = arrivedBy(provider, identity, { byEmail: false });
    const user = { id: session.userId, username: session.username };
    const found = await links.find(realm, arrived);
    if (found) return found.user.id === user.id;
    return transact(realm, async (tx) => {
      // The way to the provider takes time, in which the session may have ended.
      await mustHold(tx.sql, realm, { userId: user.id, credentials: [], sessionId: session.id });
      const linkId = await links.make(tx, by, realm, user, arrived, { used: true });
      if (linkId === undefined) return false;
      const { alias: from, emailVerified, provided } = arrived;
      await applyProvided(tx, by, realm, user.id, provided, { from, emailVerified });
      if (arrived.session?.token) providerTokens.note(tx.atLast, realm, linkId, arrived.session.token);
      await notify(tx, { realm, by, userId: user.id, what: 'identity-linked' });
      return true;
    });
  }

  return {
    /** The providers that users can connect by themselves. */
    offered: async (realm: string): Promise<Provider[]> => (await providers.enabled(realm)).filter(offers),

    /** @returns the address for the browser; undefined: users can't connect this provider, or it is unreachable */
    async begin(
      reply: FastifyReply,
      realm: string,
      alias: string,
      { session, origin }: { session: LiveSession; origin: string },
    ): Promise<{ url: string; title: string } | undefined> {
      const provider = await providers.named(realm, alias);
      const upstream = provider && offers(provider) && upstreams[provider.type];
      if (!upstream) return undefined;
      const state = newSecret();
      const callback = `${origin}/realms/${realm}/broker/${alias}/endpoint`;
      try {
        const departure = { realm, callback, state, loginHint: '', anew: false };
        const { url, luggage } = await upstream.depart(provider, departure);
        const away = { alias, state: linkDigest(state), luggage, callback, sessionId: session.id, at: now().getTime() };
        const sealed = seal.seal(JSON.stringify(away satisfies Away), contextOf(realm)).toString('base64url');
        void reply.setCookie(cookie.nameIn(realm), sealed, { ...cookie.options(realm), maxAge: LIFE_MS / 1000 });
        return { url, title: provider.title };
      } catch (error) {
        if (error instanceof UpstreamError) return undefined;
        throw error;
      }
    },

    /** @returns where the browser continues; undefined: this browser didn't go to the provider for that */
    async back(
      request: FastifyRequest,
      reply: FastifyReply,
      { realm, alias, answer }: { realm: string; alias: string; answer: Readonly<Record<string, string>> },
    ): Promise<string | undefined> {
      const away = opened(request, realm);
      if (!away || away.alias !== alias || !sameSecret(linkDigest(answer.state ?? ''), away.state)) return undefined;
      void reply.clearCookie(cookie.nameIn(realm), cookie.options(realm));
      const session = await sessions.current(request, realm);
      if (!session || session.id !== away.sessionId || session.impersonator) return undefined;
      const provider = await providers.named(realm, alias);
      const upstream = provider && offers(provider) && upstreams[provider.type];
      const to = (said: 'connected' | 'notConnected') => `/realms/${realm}/account?said=${said}`;
      if (!upstream) return to('notConnected');
      const by: By = { actor: userParty(session.userId, session.username), ipAddress: request.ip };
      try {
        const { luggage, callback, at } = away;
        const back = { realm, callback, luggage, anew: false, leftAt: new Date(at), answer };
        const done = await connected(by, realm, provider, session, await upstream.arrive(provider, back));
        return to(done ? 'connected' : 'notConnected');
      } catch (error) {
        if (error instanceof UpstreamError || isWithdrawn(error)) return to('notConnected');
        throw error;
      }
    },
  };
}
export type Connections = ReturnType<typeof createConnections>;
type Identity = Awaited<ReturnType<Upstream['arrive']>>;
