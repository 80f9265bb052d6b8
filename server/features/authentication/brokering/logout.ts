// Single logout with providers: a user who signs out here is sent over the provider of the session and back; a session that
// ends at the provider ends here. OpenID Connect RP-Initiated Logout 1.0, Back-Channel Logout 1.0 §2.6.
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { Transact } from '../../../db/transact.ts';
import type { Sent } from '../../../domain/saml-writing.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { noteMessage } from './messages.ts';
import type { Oidc } from './oidc.ts';
import type { CameBy, ProviderSessions } from './provider-sessions.ts';
import type { Provider, Providers } from './providers.ts';
import type { SamlLogout } from './saml-logout.ts';
import { UpstreamError } from './upstream.ts';

const EVENT = 'http://schemas.openid.net/event/backchannel-logout';
const OLDEST_SECONDS = 300;
const LIFE_MS = 15 * 60_000;
const LogoutToken = z.object({
  iat: z.number(),
  jti: z.string().min(1),
  nonce: z.undefined().optional(),
  events: z.looseObject({ [EVENT]: z.object({}) }),
  sid: z.string().min(1).optional(),
  sub: z.string().min(1).optional(),
});
/** The way to the provider, and the address after it. */
const Way = z.discriminatedUnion('by', [
  z.object({ by: z.literal('Redirect'), url: z.string() }),
  z.object({ by: z.literal('POST'), action: z.string(), fields: z.record(z.string(), z.string().optional()) }),
]);
const Onward = z.object({ way: Way.optional(), next: z.string(), at: z.number() });
type Onward = z.infer<typeof Onward>;

export interface UpstreamLogoutDeps {
  oidc: Pick<Oidc, 'metadataOf' | 'verified'>;
  samlLogout: Pick<SamlLogout, 'over'>;
  providers: Pick<Providers, 'named'>;
  providerSessions: Pick<ProviderSessions, 'of' | 'endedThere'>;
  sessions: Pick<Sessions, 'endAll'>;
  transact: Transact;
  seal: Seal;
  baseUrl: string;
  now: () => Date;
}

export function createUpstreamLogout(deps: UpstreamLogoutDeps) {
  const { oidc, samlLogout, providers, providerSessions, sessions, transact, seal, baseUrl, now } = deps;
  const contextOf = (realm: string): string => `brokering-logout:${realm}`;
  const sealed = (realm: string, onward: Onward): string =>
    seal.seal(JSON.stringify(onward), contextOf(realm)).toString('base64url');
  const pathOf = (realm: string, alias: string, what: string): string =>
    `/realms/${realm}/broker/${alias}/endpoint/${what}`;

  async function byOidc(realm: string, provider: Provider, came: CameBy, next: string): Promise<Sent | undefined> {
    if (provider.type !== 'oidc') return undefined;
    // An unreachable provider doesn't prevent the sign-out here.
    const metadata = await oidc.metadataOf(provider).catch(() => undefined);
    if (!metadata?.endSessionEndpoint) return undefined;
    const url = new URL(metadata.endSessionEndpoint);
    const parameters = {
      client_id: provider.clientId,
      id_token_hint: came.idToken ?? '',
      post_logout_redirect_uri: `${baseUrl}${pathOf(realm, provider.alias, 'logout_response')}`,
      state: sealed(realm, { next, at: now().getTime() }),
    };
    for (const [name, value] of Object.entries(parameters)) if (value !== '') url.searchParams.set(name, value);
    return { by: 'Redirect', url: url.href };
  }

  return {
    /**
     * A path of this server that leads over the session's provider to `next`; undefined: the session has no provider, or it
     * supports no logout. Call it before the session ends.
     */
    async over(realm: string, sessionId: string, next: string): Promise<string | undefined> {
      const came = await providerSessions.of(realm, sessionId);
      const provider = came && (await providers.named(realm, came.alias));
      if (!provider) return undefined;
      const way = await (provider.type === 'saml' ? samlLogout.over : byOidc)(realm, provider, came, next);
      if (!way) return undefined;
      const to = sealed(realm, { way, next, at: now().getTime() });
      return `${pathOf(realm, provider.alias, 'logout')}?${new URLSearchParams({ to })}`;
    },

    /** The values that were sealed for the way; undefined: they were not sealed here, or have expired. */
    onward(realm: string, text: string): Onward | undefined {
      try {
        const found = Onward.parse(JSON.parse(seal.open(Buffer.from(text, 'base64url'), contextOf(realm)).toString()));
        return now().getTime() - found.at > LIFE_MS ? undefined : found;
      } catch {
        return undefined;
      }
    },

    /** A provider reports that one of its sessions has ended. @returns false: the token is not valid */
    async ended(realm: string, alias: string, token: string, ipAddress: string): Promise<boolean> {
      const provider = await providers.named(realm, alias);
      if (provider?.type !== 'oidc') return false;
      try {
        const metadata = await oidc.metadataOf(provider);
        const said = LogoutToken.safeParse(await oidc.verified(provider, metadata, token)).data;
        if (!said || (said.sid === undefined && said.sub === undefined)) return false;
        if (Math.abs(now().getTime() / 1000 - said.iat) > OLDEST_SECONDS) return false;
        const { sid, sub, iat, jti } = said;
        const until = new Date((iat + 2 * OLDEST_SECONDS) * 1000);
        const by: By = { actor: { type: 'system', id: null, name: `identity provider ${alias}` }, ipAddress };
        return await transact(
          realm,
          async (tx) => {
            const name = ['logout-token', jti] as const;
            if (!(await noteMessage(tx.sql, realm, { providerId: provider.id, name, until }))) return false;
            const which = {
              providerId: provider.id,
              issuer: metadata.issuer,
              ...(sid !== undefined && { sids: [sid] }),
              ...(sub !== undefined && { sub }),
            };
            const ids = await providerSessions.endedThere(tx.sql, realm, which);
            if (ids.length > 0) await sessions.endAll(tx, realm, by, ids, { because: 'logout' });
            return true;
          },
          { bookkeeping: true },
        );
      } catch (error) {
        if (error instanceof UpstreamError) return false;
        throw error;
      }
    },
  };
}
export type UpstreamLogout = ReturnType<typeof createUpstreamLogout>;
