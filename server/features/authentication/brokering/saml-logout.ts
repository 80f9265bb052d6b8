// Single logout with a SAML identity provider, in both directions. A user who signs out here is sent over the provider. A
// session that ends at the provider ends here and at its SAML applications, before the provider gets its response. SAML 2.0
// Profiles §4.4.
import { z } from 'zod';
import type { By } from '../../../contract/events.ts';
import type { Seal } from '../../../crypto/seal.ts';
import { sha256 } from '../../../crypto/tokens.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import type { Transact, Tx } from '../../../db/transact.ts';
import { issuerOf, logoutRequestOf } from '../../../domain/saml-checks.ts';
import { type Message, messageOf, unverifiedMessage, verifiedMessage } from '../../../domain/saml-message.ts';
import type { Binding } from '../../../domain/saml-names.ts';
import { logoutRequest, logoutResponse, messageForBinding, newXmlId, type Sent } from '../../../domain/saml-writing.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { XmlSigner } from '../../../xml/sign.ts';
import { xml } from '../../../xml/write.ts';
import type { Sessions } from '../../people/sessions/service.ts';
import { noteMessage } from './messages.ts';
import type { CameBy, ProviderSessions } from './provider-sessions.ts';
import type { Provider } from './providers.ts';
import type { SamlProvider } from './saml-metadata.ts';
import type { SamlProviders } from './saml-providers.ts';

const LIFE_MS = 15 * 60_000;
/** Longer than a request is accepted. */
const REPLAY_MS = 60 * 60_000;

/** The realm's SAML applications, which are notified through the browser (features/protocol/saml). */
export interface Applications {
  /** @returns the browser's first address; undefined: no application must be notified */
  begin(
    tx: Tx,
    realm: string,
    sessionIds: readonly string[],
    then: { to: 'provider'; url: string },
  ): Promise<string | undefined>;
}

/** A provider's logout request, until it is answered. */
const LogoutToAnswer = z.object({
  provider: z.string(),
  requestId: z.string(),
  binding: z.enum(['POST', 'Redirect']),
  relayState: z.string().optional(),
  at: z.int(),
});
type LogoutToAnswer = z.infer<typeof LogoutToAnswer>;

/** The response; or the browser's first address and the frames that it loads, if applications must be notified. */
type Ended = { sent: Sent | undefined } | { onward: string; frames: readonly string[] };

export interface SamlLogoutDeps {
  samlProviders: Pick<SamlProviders, 'of' | 'renewed' | 'ownName'>;
  providerSessions: Pick<ProviderSessions, 'endedThere'>;
  sessions: Pick<Sessions, 'endAll' | 'frames'>;
  settings: { issuer(realm: string): Promise<string> };
  signerOf(realm: string): Promise<XmlSigner>;
  realmSql: RealmSql;
  transact: Transact;
  seal: Seal;
  now: () => Date;
}

/** The preferred binding, or the other one if the provider doesn't support it. */
function wayOf(
  { logout }: SamlProvider,
  first: Binding,
): { binding: Binding; url: string; answers: string } | undefined {
  const binding = logout[first] ? first : first === 'POST' ? 'Redirect' : 'POST';
  const found = logout[binding];
  return found && { binding, ...found };
}
const bad = (description: string) => new OAuthError('invalid_request', description);

export function createSamlLogout(deps: SamlLogoutDeps) {
  const { samlProviders, providerSessions, sessions, signerOf, settings, realmSql, transact, seal, now } = deps;
  const contextOf = (realm: string): string => `brokering-logout-answer:${realm}`;

  /** @throws OAuthError the message is not signed by the provider */
  async function believed(provider: Provider, message: Message) {
    const read = unverifiedMessage(message);
    const by = ({ entityId, certificates }: SamlProvider) => {
      const found = verifiedMessage(message, read, { certificates, needed: true });
      return found && issuerOf(found) === entityId ? found : undefined;
    };
    const known = await samlProviders.of(provider);
    const found = by(known);
    if (found) return { xml: found, from: known };
    const renewed = await samlProviders.renewed(provider);
    const again = renewed && by(renewed);
    if (!again) throw bad('The request is not signed by the identity provider');
    return { xml: again, from: renewed };
  }

  /** The response to the provider's address for responses; undefined: it has none. */
  async function answer(
    realm: string,
    provider: Provider,
    { requestId, binding, relayState }: LogoutToAnswer,
    { from, partial }: { from: SamlProvider; partial: boolean },
  ): Promise<Sent | undefined> {
    const to = wayOf(from, binding);
    if (!to) return undefined;
    const head = { issuer: await samlProviders.ownName(realm, provider), destination: to.answers, now: now() };
    const place = { url: to.answers, binding: to.binding };
    const signer = await signerOf(realm);
    return messageForBinding(logoutResponse(head, requestId, { partial }), { to: place, relayState, signer });
  }

  async function ended(
    realm: string,
    provider: Provider,
    message: Message,
    { address, ipAddress, applications }: { address: string; ipAddress: string; applications: Applications },
  ): Promise<Ended> {
    const { xml: request, from } = await believed(provider, message);
    const { id, name, indexes } = logoutRequestOf(request, { now: now(), addresses: [address] });
    const by: By = { actor: { type: 'system', id: null, name: `identity provider ${provider.alias}` }, ipAddress };
    const until = new Date(now().getTime() + REPLAY_MS);
    const { binding, relayState } = message;
    const asked: LogoutToAnswer = { provider: provider.id, requestId: id, binding, relayState, at: now().getTime() };
    const to = seal.seal(JSON.stringify(asked), contextOf(realm)).toString('base64url');
    const url = `${address}/answer?${new URLSearchParams({ to })}`;
    const iss = await settings.issuer(realm);
    const told = await transact(
      realm,
      async (tx) => {
        const said = { providerId: provider.id, name: ['logout-request', id] as const, until };
        if (!(await noteMessage(tx.sql, realm, said))) throw bad('The request was answered before');
        const which = { providerId: provider.id, issuer: from.entityId, sub: name };
        const ids = await providerSessions.endedThere(tx.sql, realm, {
          ...which,
          ...(indexes.length > 0 && { sids: indexes }),
        });
        if (ids.length === 0) return { first: undefined, frames: [] };
        const found = {
          first: await applications.begin(tx, realm, ids, { to: 'provider', url }),
          frames: await sessions.frames(tx, realm, ids, iss),
        };
        await sessions.endAll(tx, realm, by, ids, { because: 'logout' });
        return found;
      },
      { bookkeeping: true },
    );
    const { first, frames } = told;
    if (first !== undefined || frames.length > 0) return { onward: first ?? url, frames };
    return { sent: await answer(realm, provider, asked, { from, partial: false }) };
  }

  function askedBy(realm: string, provider: Provider, text: string): LogoutToAnswer {
    try {
      const asked = LogoutToAnswer.parse(
        JSON.parse(seal.open(Buffer.from(text, 'base64url'), contextOf(realm)).toString()),
      );
      if (asked.provider === provider.id && now().getTime() - asked.at <= LIFE_MS) return asked;
    } catch {
      // An unreadable request gets the same answer as an expired one.
    }
    throw bad('The request is too old');
  }

  /**
   * Where the browser continues after the provider's response. `InResponseTo` names the request, and its id can't be
   * guessed.
   */
  async function nextOf(realm: string, message: Message): Promise<string | undefined> {
    const hash = sha256(unverifiedMessage(message).attributes.InResponseTo ?? '');
    const [row] = await realmSql(realm)<{ next: string }>`
      delete from provider_logout where realm_id = ${realm} and request_hash = ${hash} and expires_at > ${now()}
      returning next`;
    return row?.next;
  }

  return {
    /** The message that takes the browser to the session's provider; the provider's response leads to `next`. */
    async over(realm: string, provider: Provider, came: CameBy, next: string): Promise<Sent | undefined> {
      // An unreachable provider doesn't prevent the sign-out here.
      const known = await samlProviders.of(provider).catch(() => undefined);
      const to = known && wayOf(known, provider.config.binding ?? 'Redirect');
      if (!to) return undefined;
      const id = newXmlId();
      const expiresAt = new Date(now().getTime() + LIFE_MS);
      await realmSql(realm)`
        insert into provider_logout (realm_id, request_hash, next, expires_at)
        values (${realm}, ${sha256(id)}, ${next}, ${expiresAt})`;
      const head = { issuer: await samlProviders.ownName(realm, provider), destination: to.url, now: now() };
      const { Format, NameQualifier, SPNameQualifier } = came.nameId ?? {};
      const name = xml('saml:NameID', { Format, NameQualifier, SPNameQualifier }, came.subject);
      const request = logoutRequest(head, id, name, came.sid);
      return messageForBinding(request, { to, relayState: undefined, signer: await signerOf(realm) });
    },

    /**
     * Handles a message at the logout endpoint.
     * @param text the query, or the form's body
     * @throws OAuthError
     */
    async received(
      realm: string,
      provider: Provider,
      {
        binding,
        text,
        ...at
      }: { binding: Binding; text: string; address: string; ipAddress: string; applications: Applications },
    ): Promise<{ next: string | undefined } | Ended> {
      const message = messageOf(binding, text);
      if (message.kind === 'SAMLResponse') return { next: await nextOf(realm, message) };
      return ended(realm, provider, message, at);
    },

    /**
     * Answers the provider after the applications were notified. @param text the sealed request of the provider
     * @throws OAuthError
     */
    async done(realm: string, provider: Provider, text: string, { partial }: { partial: boolean }) {
      const asked = askedBy(realm, provider, text);
      return answer(realm, provider, asked, { from: await samlProviders.of(provider), partial });
    },
  };
}
export type SamlLogout = ReturnType<typeof createSamlLogout>;
