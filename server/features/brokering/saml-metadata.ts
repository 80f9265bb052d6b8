// What an identity provider's SAML metadata says, and ours as its service provider. SAML 2.0 Metadata §2.
import { X509Certificate } from 'node:crypto';
import { isProviderAddress } from '../../contract/identity-providers.ts';
import { METADATA, PROTOCOL, SIGNATURES } from '../../domain/saml-names.ts';
import { parseXml, type Xml, XmlError } from '../../xml/document.ts';
import { written, xml } from '../../xml/write.ts';

const BINDINGS = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-';
export const POST_BINDING = `${BINDINGS}POST`;

export interface SamlProvider {
  entityId: string;
  /** Where requests go by Redirect. */
  singleSignOnUrl: string | undefined;
  /** PEM. */
  certificates: readonly string[];
}

const of = (at: Xml, name: string, namespace = METADATA): Xml[] =>
  at.children.filter((child) => child.name === name && child.namespace === namespace);

const entitiesIn = (at: Xml): Xml[] => {
  if (at.namespace !== METADATA) return [];
  return at.name === 'EntityDescriptor' ? [at] : at.children.flatMap(entitiesIn);
};

/** @param entityId of the one that is meant, where the metadata has several. @throws XmlError */
export function readProvider(text: string, entityId: string | undefined, now: Date): SamlProvider {
  const root = parseXml(text);
  const found = entitiesIn(root)
    .filter(({ attributes }) => entityId === undefined || attributes.entityID === entityId)
    .flatMap((entity) => of(entity, 'IDPSSODescriptor').map((provider) => ({ entity, provider })));
  const [one, another] = found;
  if (!one || another) throw new XmlError('The metadata describes not one identity provider');
  for (const { attributes } of [root, one.entity, one.provider])
    if (attributes.validUntil !== undefined && !(Date.parse(attributes.validUntil) > now.getTime()))
      throw new XmlError('The metadata is no longer valid');
  const service = of(one.provider, 'SingleSignOnService').find(
    ({ attributes }) => attributes.Binding === `${BINDINGS}Redirect` && isProviderAddress(attributes.Location),
  );
  const certificates = of(one.provider, 'KeyDescriptor')
    .filter(({ attributes }) => attributes.use === undefined || attributes.use === 'signing')
    .flatMap((key) => of(key, 'KeyInfo', SIGNATURES))
    .flatMap((info) => of(info, 'X509Data', SIGNATURES))
    .flatMap((data) => of(data, 'X509Certificate', SIGNATURES))
    .flatMap((certificate) => pemOf(certificate.text) ?? []);
  return {
    entityId: one.entity.attributes.entityID ?? '',
    singleSignOnUrl: service?.attributes.Location,
    certificates,
  };
}

function pemOf(base64: string): string | undefined {
  try {
    return new X509Certificate(Buffer.from(base64, 'base64')).toString();
  } catch {
    return undefined;
  }
}

/** What the provider has to know of this realm. @param certificate base64 DER, where requests are signed */
export const ownMetadata = (entityId: string, callback: string, certificate: string | undefined): string =>
  written(
    xml(
      'md:EntityDescriptor',
      { entityID: entityId },
      xml(
        'md:SPSSODescriptor',
        {
          protocolSupportEnumeration: PROTOCOL,
          AuthnRequestsSigned: String(certificate !== undefined),
          WantAssertionsSigned: 'true',
        },
        certificate === undefined
          ? undefined
          : xml(
              'md:KeyDescriptor',
              { use: 'signing' },
              xml('ds:KeyInfo', {}, xml('ds:X509Data', {}, xml('ds:X509Certificate', {}, certificate))),
            ),
        xml('md:AssertionConsumerService', {
          Binding: POST_BINDING,
          Location: callback,
          index: '0',
          isDefault: 'true',
        }),
      ),
    ),
  );
