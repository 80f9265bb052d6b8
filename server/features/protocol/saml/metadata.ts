// The identity provider's own metadata. SAML 2.0 Metadata §2.4.3; specification 4.3; decisions "SAML".

import { DAY_MS } from '../../../contract/durations.ts';
import { type Binding, bindingNames, nameIdFormats, PROTOCOL } from '../../../domain/saml-names.ts';
import { newXmlId } from '../../../domain/saml-writing.ts';
import { keyInfo, signed, type XmlSigner } from '../../../xml/sign.ts';
import { canonicalXml, type XmlName, type XmlNode, xml } from '../../../xml/write.ts';

/** How long a service provider may use the metadata without reaching this server. */
const VALID_MS = 7 * DAY_MS;
/** Short, because a key may be replaced at any moment. */
const CACHE = 'PT1M';
const BINDINGS = ['Redirect', 'POST'] as const satisfies readonly Binding[];

export async function metadataOf({
  issuer,
  signOn,
  logout,
  certificates,
  signer,
  now,
}: {
  issuer: string;
  signOn: string;
  logout: string;
  /** Base64 DER. */
  certificates: readonly string[];
  signer: XmlSigner;
  now: Date;
}): Promise<string> {
  const services = (name: XmlName, location: string): XmlNode[] =>
    BINDINGS.map((binding) => xml(name, { Binding: bindingNames[binding], Location: location }));
  const entity = xml(
    'md:EntityDescriptor',
    {
      ID: newXmlId(),
      entityID: issuer,
      validUntil: new Date(now.getTime() + VALID_MS).toISOString(),
      cacheDuration: CACHE,
    },
    xml(
      'md:IDPSSODescriptor',
      { protocolSupportEnumeration: PROTOCOL, WantAuthnRequestsSigned: 'false' },
      certificates.map((certificate) => xml('md:KeyDescriptor', { use: 'signing' }, keyInfo(certificate))),
      services('md:SingleLogoutService', logout),
      Object.values(nameIdFormats).map((format) => xml('md:NameIDFormat', {}, format)),
      services('md:SingleSignOnService', signOn),
    ),
  );
  return canonicalXml(await signed(entity, 0, signer));
}
