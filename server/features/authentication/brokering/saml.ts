// A SAML 2.0 provider: requests go by Redirect or POST, responses come by POST. A post from another site brings no cookies:
// so the response is read at once, and its contents continue sealed to the browser's sign-in. SAML 2.0 Profiles §4.1,
// Bindings §3.4, §3.5.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import { LATEST_MS } from '../../../contract/names.ts';
import type { Seal } from '../../../crypto/seal.ts';
import type { RealmSql } from '../../../db/realm-share.ts';
import { bindingNames, nameIdFormats } from '../../../domain/saml-names.ts';
import { issuerNode, messageForBinding, newXmlId } from '../../../domain/saml-writing.ts';
import type { XmlSigner } from '../../../xml/sign.ts';
import { xml } from '../../../xml/write.ts';
import type { Keys } from '../../configuration/keys/service.ts';
import { noteMessage } from './messages.ts';
import type { Provider } from './providers.ts';
import { ownMetadata, type SamlProvider } from './saml-metadata.ts';
import type { SamlProviders } from './saml-providers.ts';
import { readResponse, type SamlAssertion } from './saml-response.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

/** The browser continues at once, and this is no longer than a sign-in lives. */
const SEALED_MS = 300_000;
const SKEW_MS = 60_000;
/** The longest value that fits into an address. */
const LONGEST = 7_000;

const Sealed = z.object({
  alias: z.string(),
  at: z.number(),
  reason: z.string().optional(),
  issuer: z.string().optional(),
  said: z
    .object({
      id: z.string(),
      until: z.number(),
      inResponseTo: z.string(),
      subject: z.string(),
      provenAt: z.number(),
      claims: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
      sessionIndex: z.string().optional(),
      nameId: z.record(z.string(), z.string()),
    })
    .optional(),
});
type Sealed = z.infer<typeof Sealed>;
const Posting = z.object({ action: z.string(), fields: z.record(z.string(), z.string().optional()), at: z.number() });
type Posting = z.infer<typeof Posting>;

export interface SamlBrokeringDeps {
  samlProviders: SamlProviders;
  keys: Pick<Keys, 'decrypting'>;
  signerOf(realm: string): Promise<XmlSigner>;
  realmSql: RealmSql;
  seal: Seal;
  now: () => Date;
}

export function createSamlBrokering({ samlProviders, keys, signerOf, realmSql, seal, now }: SamlBrokeringDeps) {
  const contextOf = (realm: string): string => `brokering-saml:${realm}`;

  async function responseOf(realm: string, provider: Provider, message: string, callback: string) {
    const audience = await samlProviders.ownName(realm, provider);
    const mustBeEncrypted = provider.config.wantAssertionsEncrypted ?? false;
    const expected = { audience, callback, keys: await keys.decrypting(realm), mustBeEncrypted, now: now() };
    const by = ({ entityId, certificates }: SamlProvider): { issuer: string; said: SamlAssertion } => ({
      issuer: entityId,
      said: readResponse(message, { entityId, certificates, ...expected }),
    });
    const known = await samlProviders.of(provider);
    try {
      return by(known);
    } catch (error) {
      // The provider may have a new key since its metadata was read.
      const isOther = error instanceof UpstreamError && error.reason === 'saml-signature';
      const fresh = isOther ? await samlProviders.renewed(provider) : undefined;
      if (fresh === undefined) throw error;
      return by({ ...fresh, entityId: known.entityId });
    }
  }

  const upstream: Upstream = {
    async depart(provider, { realm, callback, state, anew }) {
      const { signOn } = await samlProviders.of(provider);
      const { signRequests = false, nameIdFormat, binding = signOn.Redirect ? 'Redirect' : 'POST' } = provider.config;
      const url = signOn[binding];
      if (url === undefined) throw new UpstreamError('no-such-binding');
      const id = newXmlId();
      const request = xml(
        'samlp:AuthnRequest',
        {
          ID: id,
          Version: '2.0',
          IssueInstant: now().toISOString(),
          Destination: url,
          AssertionConsumerServiceURL: callback,
          ProtocolBinding: bindingNames.POST,
          ForceAuthn: anew ? 'true' : undefined,
        },
        issuerNode(await samlProviders.ownName(realm, provider)),
        xml('samlp:NameIDPolicy', {
          AllowCreate: 'true',
          Format: nameIdFormat === undefined ? undefined : nameIdFormats[nameIdFormat],
        }),
      );
      const signer = signRequests ? await signerOf(realm) : undefined;
      const sent = await messageForBinding(request, { to: { url, binding }, relayState: state, signer });
      if (sent.by === 'Redirect') return { url: sent.url, luggage: { id } };
      const form = sealedText(realm, { action: sent.action, fields: sent.fields, at: now().getTime() });
      return { url: `${new URL(callback).pathname}/request?${new URLSearchParams({ form })}`, luggage: { id } };
    },

    async arrive({ id: providerId, alias }, { realm, luggage, anew, leftAt, answer }) {
      const { issuer, said, reason } = opened(realm, alias, answer.saml ?? '');
      if (reason !== undefined) throw new UpstreamError(reason);
      if (!said || issuer === undefined) throw new UpstreamError('saml-nothing');
      if (said.inResponseTo !== luggage.id) throw new UpstreamError('saml-other-request');
      if (anew && !(said.provenAt >= leftAt.getTime() - SKEW_MS)) throw new UpstreamError('saml-authn-instant');
      const message = {
        providerId,
        name: ['assertion', said.id] as const,
        until: new Date(Math.min(said.until, LATEST_MS)),
      };
      if (!(await noteMessage(realmSql(realm), realm, message))) throw new UpstreamError('saml-replayed');
      const { subject, claims, sessionIndex: sid, nameId } = said;
      return { issuer, subject, claims, session: { sid, nameId } };
    },
  };

  const sealedText = (realm: string, value: Sealed | Posting): string =>
    seal.seal(deflateRawSync(JSON.stringify(value)), contextOf(realm)).toString('base64url');
  /** @throws Error: the text was not sealed here, or has expired */
  function openedAs<T extends { at: number }>(schema: z.ZodType<T>, realm: string, text: string): T {
    const plain = inflateRawSync(seal.open(Buffer.from(text, 'base64url'), contextOf(realm)));
    const found = schema.parse(JSON.parse(plain.toString()));
    if (now().getTime() - found.at > SEALED_MS) throw new Error('it is too old');
    return found;
  }
  function opened(realm: string, alias: string, text: string): Sealed {
    try {
      const found = openedAs(Sealed, realm, text);
      if (found.alias !== alias) throw new Error('it is another’s');
      return found;
    } catch (cause) {
      throw new UpstreamError('saml-nothing', { cause });
    }
  }

  return {
    ...upstream,

    /** Reads a posted response, and seals its contents for the address at which the browser continues. */
    async receive(realm: string, provider: Provider, message: string, callback: string): Promise<string> {
      const { alias } = provider;
      const sealed = (more: Omit<Sealed, 'alias' | 'at'>): string =>
        sealedText(realm, { alias, at: now().getTime(), ...more });
      try {
        const read = sealed(await responseOf(realm, provider, message, callback));
        return read.length > LONGEST ? sealed({ reason: 'saml-too-large' }) : read;
      } catch (error) {
        // The error continues to the sign-in, whose page and audit log report it.
        if (error instanceof UpstreamError) return sealed({ reason: error.reason });
        throw error;
      }
    },

    /** A request that goes by POST; undefined: it was not made here, or has expired. */
    posting(realm: string, text: string): Posting | undefined {
      try {
        return openedAs(Posting, realm, text);
      } catch {
        return undefined;
      }
    },

    async metadata(realm: string, provider: Provider, callback: string): Promise<string> {
      const { certificate } = await signerOf(realm);
      const { signRequests: signsRequests = false, wantAssertionsEncrypted: encrypted = false } = provider.config;
      const entityId = await samlProviders.ownName(realm, provider);
      return ownMetadata({ entityId, callback, logout: `${callback}/slo`, certificate, signsRequests, encrypted });
    },
  };
}
export type SamlUpstream = ReturnType<typeof createSamlBrokering>;
