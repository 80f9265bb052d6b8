// The realm's SAML identity providers, by their settings and by their metadata.

import type { RemoteDocuments } from '../../../http/remote-documents.ts';
import { XmlError } from '../../../xml/document.ts';
import type { Provider } from './providers.ts';
import { readProvider, type SamlProvider } from './saml-metadata.ts';
import { UpstreamError } from './upstream.ts';

export interface SamlProvidersDeps {
  /** The bytes of metadata by address, cached for a while. The XML says their encoding. */
  documents: RemoteDocuments;
  settings: { issuer(realm: string): Promise<string> };
  now: () => Date;
}

export function createSamlProviders({ documents, settings, now }: SamlProvidersDeps) {
  function read(metadata: unknown, { config }: Provider): SamlProvider {
    try {
      const { entityId, metadataCertificate: certificate } = config;
      return readProvider(Buffer.isBuffer(metadata) ? metadata : String(metadata), {
        entityId,
        certificate,
        now: now(),
      });
    } catch (error) {
      if (error instanceof XmlError) throw new UpstreamError('metadata-malformed', { cause: error });
      throw error;
    }
  }

  /** Settings take precedence over metadata. */
  function merged({ config }: Provider, found: SamlProvider | undefined): SamlProvider {
    const { entityId, singleSignOnUrl: url, singleLogoutUrl: out, binding = 'Redirect', signingCertificates } = config;
    return {
      entityId: entityId ?? found?.entityId ?? '',
      signOn: url === undefined ? (found?.signOn ?? {}) : { [binding]: url },
      logout: out === undefined ? (found?.logout ?? {}) : { [binding]: { url: out, answers: out } },
      certificates: signingCertificates ?? found?.certificates ?? [],
    };
  }

  return {
    /** The realm's entity id for this provider. */
    ownName: async (realm: string, { clientId }: Provider): Promise<string> =>
      clientId === '' ? settings.issuer(realm) : clientId,

    async of(provider: Provider): Promise<SamlProvider> {
      const { metadataUrl } = provider.config;
      if (metadataUrl === undefined) return merged(provider, undefined);
      const metadata = await documents.get(metadataUrl).catch((cause: unknown) => {
        throw new UpstreamError('metadata-unreachable', { cause });
      });
      return merged(provider, read(metadata, provider));
    },

    /** The provider by freshly fetched metadata, in case it has a new key; undefined: there is nothing newer. */
    async renewed(provider: Provider): Promise<SamlProvider | undefined> {
      const { metadataUrl } = provider.config;
      const metadata = metadataUrl && (await documents.renewed(metadataUrl).catch(() => undefined));
      return metadata === undefined ? undefined : merged(provider, read(metadata, provider));
    },
  };
}
export type SamlProviders = ReturnType<typeof createSamlProviders>;
