// Reads an identity provider's SAML metadata, and writes this server's as a service provider. SAML 2.0 Metadata §2.

import { X509Certificate } from 'node:crypto';
import { isProviderAddress } from '../../../contract/identity-providers.ts';
import { type Binding, bindingNames, METADATA, PROTOCOL, SIGNATURES } from '../../../domain/saml-names.ts';
import { childrenIn } from '../../../xml/children.ts';
import { METADATA as LIMITS, parseDocument, type Xml, XmlError } from '../../../xml/document.ts';
import { keyInfo } from '../../../xml/sign.ts';
import { readSigned } from '../../../xml/signature.ts';
import { canonicalXml, xml } from '../../../xml/write.ts';

const BINDINGS = ['Redirect', 'POST'] as const satisfies readonly Binding[];

export interface SamlProvider {
  entityId: string;
  /** The addresses for sign-in requests. */
  signOn: Readonly<Partial<Record<Binding, string>>>;
  /** The addresses for logout requests, and for responses to the provider's own logout requests. */
  logout: Readonly<Partial<Record<Binding, { url: string; answers: string }>>>;
  /** PEM. */
  certificates: readonly string[];
}

const of = childrenIn(METADATA);

const entitiesIn = (at: Xml): Xml[] => {
  if (at.namespace !== METADATA) return [];
  return at.name === 'EntityDescriptor' ? [at] : at.children.flatMap(entitiesIn);
};

/**
 * @param entityId selects the provider if the metadata describes several
 * @param certificate of the key that must have signed the metadata
 * @throws XmlError
 */
export function readProvider(
  metadata: string | Buffer,
  { entityId, certificate, now }: { entityId: string | undefined; certificate: string | undefined; now: Date },
): SamlProvider {
  const document = parseDocument(metadata, LIMITS);
  const root = certificate === undefined ? document.xml : readSigned(document, [certificate]);
  const found = entitiesIn(root)
    .filter(({ attributes }) => entityId === undefined || attributes.entityID === entityId)
    .flatMap((entity) => of(entity, 'IDPSSODescriptor').map((provider) => ({ entity, provider })));
  const [one, another] = found;
  if (!one || another)
    throw new XmlError('The metadata must describe exactly one identity provider, or entityId must name one of them');
  for (const { attributes } of [root, one.entity, one.provider])
    if (attributes.validUntil !== undefined && !(Date.parse(attributes.validUntil) > now.getTime()))
      throw new XmlError('The metadata is no longer valid');
  const services = (name: string) =>
    BINDINGS.flatMap((binding) => {
      const found = of(one.provider, name).find(
        ({ attributes }) => attributes.Binding === bindingNames[binding] && isProviderAddress(attributes.Location),
      );
      const { Location: url, ResponseLocation: answers } = found?.attributes ?? {};
      return url === undefined
        ? []
        : [[binding, { url, answers: isProviderAddress(answers) ? answers : url }] as const];
    });
  const certificates = of(one.provider, 'KeyDescriptor')
    .filter(({ attributes }) => attributes.use === undefined || attributes.use === 'signing')
    .flatMap((key) => of(key, 'KeyInfo', SIGNATURES))
    .flatMap((info) => of(info, 'X509Data', SIGNATURES))
    .flatMap((data) => of(data, 'X509Certificate', SIGNATURES))
    .flatMap((certificate) => pemOf(certificate.text) ?? []);
  return {
    entityId: one.entity.attributes.entityID ?? '',
    signOn: Object.fromEntries(services('SingleSignOnService').map(([binding, { url }]) => [binding, url])),
    logout: Object.fromEntries(services('SingleLogoutService')),
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

/** The metadata of this realm for the provider. */
export const ownMetadata = ({
  entityId,
  callback,
  logout,
  certificate,
  signsRequests,
  encrypted,
}: {
  entityId: string;
  callback: string;
  logout: string;
  /** Base64 DER. */
  certificate: string;
  signsRequests: boolean;
  /** Whether assertions must be encrypted. */
  encrypted: boolean;
}): string => {
  const key = (use: string) => xml('md:KeyDescriptor', { use }, keyInfo(certificate));
  return canonicalXml(
    xml(
      'md:EntityDescriptor',
      { entityID: entityId },
      xml(
        'md:SPSSODescriptor',
        {
          protocolSupportEnumeration: PROTOCOL,
          AuthnRequestsSigned: String(signsRequests),
          WantAssertionsSigned: 'true',
        },
        key('signing'),
        encrypted ? key('encryption') : undefined,
        BINDINGS.map((binding) => xml('md:SingleLogoutService', { Binding: bindingNames[binding], Location: logout })),
        xml('md:AssertionConsumerService', {
          Binding: bindingNames.POST,
          Location: callback,
          index: '0',
          isDefault: 'true',
        }),
      ),
    ),
  );
};
