// A provider that speaks SAML 2.0: the request goes by Redirect, the response comes by POST. A post of another site brings no cookies:
// it is read at once, and goes on sealed to the browser's sign-in. SAML 2.0 Profiles §4.1, Bindings §3.4, §3.5.
import { randomBytes } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { z } from 'zod';
import type { Seal } from '../../crypto/seal.ts';
import { nameIdFormats } from '../../domain/saml-names.ts';
import { XmlError } from '../../xml/document.ts';
import { RSA_SHA256, rsaSha256 } from '../../xml/sign.ts';
import { written, xml } from '../../xml/write.ts';
import type { RemoteKeys } from '../client-authentication/remote-keys.ts';
import type { Keys } from '../keys/service.ts';
import type { Provider } from './providers.ts';
import { ownMetadata, POST_BINDING, readProvider, type SamlProvider } from './saml-metadata.ts';
import { readResponse, type Said } from './saml-response.ts';
import { type Upstream, UpstreamError } from './upstream.ts';

/** It goes on at once; a sign-in lives no longer. */
const SEALED_MS = 300_000;
const SKEW_MS = 60_000;
/** Of an address. */
const LONGEST = 7_000;

const Sealed = z.object({
  alias: z.string(),
  at: z.number(),
  reason: z.string().optional(),
  issuer: z.string().optional(),
  said: z
    .object({
      inResponseTo: z.string(),
      subject: z.string(),
      provenAt: z.number(),
      claims: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    })
    .optional(),
});
type Sealed = z.infer<typeof Sealed>;

export interface SamlDeps {
  /** Texts by their address, kept for a while. */
  documents: RemoteKeys;
  keys: Pick<Keys, 'active' | 'certificates'>;
  settings: { issuer(realm: string): Promise<string> };
  seal: Seal;
  now: () => Date;
}

export function createSaml({ documents, keys, settings, seal, now }: SamlDeps) {
  const contextOf = (realm: string): string => `brokering-saml:${realm}`;
  /** The realm's name there. */
  const ownName = async (realm: string, { clientId }: Provider): Promise<string> =>
    clientId === '' ? settings.issuer(realm) : clientId;

  function fromMetadata(text: unknown, { config }: Provider): SamlProvider {
    try {
      return readProvider(String(text), config.entityId, now());
    } catch (error) {
      if (error instanceof XmlError) throw new UpstreamError('metadata-malformed', { cause: error });
      throw error;
    }
  }
  async function providerOf(provider: Provider): Promise<SamlProvider> {
    const { metadataUrl, entityId, singleSignOnUrl, signingCertificates } = provider.config;
    const read =
      metadataUrl === undefined
        ? undefined
        : fromMetadata(
            await documents.get(metadataUrl).catch((cause: unknown) => {
              throw new UpstreamError('metadata-unreachable', { cause });
            }),
            provider,
          );
    return {
      entityId: entityId ?? read?.entityId ?? '',
      singleSignOnUrl: singleSignOnUrl ?? read?.singleSignOnUrl,
      certificates: signingCertificates ?? read?.certificates ?? [],
    };
  }

  async function responseOf(realm: string, provider: Provider, message: string, callback: string) {
    const audience = await ownName(realm, provider);
    const by = ({ entityId, certificates }: SamlProvider): { issuer: string; said: Said } => ({
      issuer: entityId,
      said: readResponse(message, { entityId, certificates, audience, callback, now: now() }),
    });
    const known = await providerOf(provider);
    try {
      return by(known);
    } catch (error) {
      // It may have another key since its metadata was read.
      const { metadataUrl } = provider.config;
      const isOther = error instanceof UpstreamError && error.reason === 'saml-signature';
      const fresh = isOther && metadataUrl ? await documents.renewed(metadataUrl).catch(() => undefined) : undefined;
      if (fresh === undefined) throw error;
      return by({ ...fromMetadata(fresh, provider), entityId: known.entityId });
    }
  }

  const upstream: Upstream = {
    async depart(provider, { realm, callback, state, anew }) {
      const { singleSignOnUrl: url } = await providerOf(provider);
      const { signRequests = false, nameIdFormat, binding } = provider.config;
      if (url === undefined || binding === 'POST') throw new UpstreamError('no-redirect-binding');
      const id = `_${randomBytes(20).toString('hex')}`;
      const request = xml(
        'samlp:AuthnRequest',
        {
          ID: id,
          Version: '2.0',
          IssueInstant: now().toISOString(),
          Destination: url,
          AssertionConsumerServiceURL: callback,
          ProtocolBinding: POST_BINDING,
          ForceAuthn: anew ? 'true' : undefined,
        },
        xml('saml:Issuer', {}, await ownName(realm, provider)),
        xml('samlp:NameIDPolicy', {
          AllowCreate: 'true',
          Format: nameIdFormat === undefined ? undefined : nameIdFormats[nameIdFormat],
        }),
      );
      const message = deflateRawSync(written(request)).toString('base64');
      const asked = { SAMLRequest: message, RelayState: state, ...(signRequests && { SigAlg: RSA_SHA256 }) };
      // Signed as it is written: no other encoding may come between.
      const query = Object.entries(asked)
        .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
        .join('&');
      const signature = signRequests ? await rsaSha256(query, (await keys.active(realm)).privateKey) : undefined;
      const whole = signature === undefined ? query : `${query}&Signature=${encodeURIComponent(signature)}`;
      return { url: `${url}${url.includes('?') ? '&' : '?'}${whole}`, luggage: { id } };
    },

    async arrive({ alias }, { realm, luggage, anew, leftAt, answer }) {
      const { issuer, said, reason } = opened(realm, alias, answer.saml ?? '');
      if (reason !== undefined) throw new UpstreamError(reason);
      if (!said || issuer === undefined) throw new UpstreamError('saml-nothing');
      if (said.inResponseTo !== luggage.id) throw new UpstreamError('saml-other-request');
      if (anew && !(said.provenAt >= leftAt.getTime() - SKEW_MS)) throw new UpstreamError('saml-authn-instant');
      return { issuer, subject: said.subject, claims: said.claims };
    },
  };

  function opened(realm: string, alias: string, text: string): Sealed {
    try {
      const plain = inflateRawSync(seal.open(Buffer.from(text, 'base64url'), contextOf(realm)));
      const found = Sealed.parse(JSON.parse(plain.toString()));
      if (found.alias !== alias || now().getTime() - found.at > SEALED_MS)
        throw new Error('it is another’s, or too old');
      return found;
    } catch (cause) {
      throw new UpstreamError('saml-nothing', { cause });
    }
  }

  return {
    ...upstream,

    /** What the provider posted, read, for the address that the browser goes on at. */
    async receive(realm: string, provider: Provider, message: string, callback: string): Promise<string> {
      const { alias } = provider;
      const sealed = (more: Omit<Sealed, 'alias' | 'at'>): string => {
        const plain = JSON.stringify({ alias, at: now().getTime(), ...more } satisfies Sealed);
        return seal.seal(deflateRawSync(plain), contextOf(realm)).toString('base64url');
      };
      try {
        const read = sealed(await responseOf(realm, provider, message, callback));
        return read.length > LONGEST ? sealed({ reason: 'saml-too-large' }) : read;
      } catch (error) {
        // Told in the browser that went there, and in the audit log of its sign-in.
        if (error instanceof UpstreamError) return sealed({ reason: error.reason });
        throw error;
      }
    },

    async metadata(realm: string, provider: Provider, callback: string): Promise<string> {
      const { keyId } = await keys.active(realm);
      const own = (await keys.certificates(realm)).find((one) => one.keyId === keyId);
      const certificate = provider.config.signRequests ? own?.certificate : undefined;
      return ownMetadata(await ownName(realm, provider), callback, certificate);
    },
  };
}
export type SamlUpstream = ReturnType<typeof createSaml>;
