// Writes and signs the message for a service provider: a response with an assertion, or one with a failure.
// SAML 2.0 Core §2.3, §3.2.2, §3.3.3; Profiles §4.1.4.2.
import { nameIdFormats, SUCCESS } from '../../../domain/saml-names.ts';
import { ISSUER_FIRST, issuerNode, newXmlId, statusNode } from '../../../domain/saml-writing.ts';
import { encrypted } from '../../../xml/encrypt.ts';
import { signed, type XmlSigner } from '../../../xml/sign.ts';
import { canonicalXml, type XmlNode, xml } from '../../../xml/write.ts';
import type { Attribute } from './attributes.ts';
import type { NameId } from './name-id.ts';
import type { SamlClientView } from './view.ts';
import type { Failed } from './vocabulary.ts';

/** How far the start of validity lies in the past: the recipient's clock may be behind. */
const EARLIER_MS = 2 * 60_000;
const LIFE_MS = 5 * 60_000;
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const nameFormat = (name: string) => `urn:oasis:names:tc:SAML:2.0:attrname-format:${name}`;

/** The recipient, and the request that the message answers. */
export interface Addressed {
  issuer: string;
  client: SamlClientView;
  /** The client's address for the response. */
  consumer: string;
  /** null: the service provider sent no request. */
  requestId: string | null;
  now: Date;
}
export interface SamlStatements {
  nameId: NameId;
  attributes: readonly Attribute[];
  sessionIndex: string;
  sessionUntil: Date;
  signedInAt: Date;
  context: string;
}

export const nameIdNode = (
  { format, value }: NameId,
  { issuer, client }: { issuer: string; client: { entityId: string } },
): XmlNode =>
  xml(
    'saml:NameID',
    {
      Format: nameIdFormats[format],
      ...(format === 'persistent' && { NameQualifier: issuer, SPNameQualifier: client.entityId }),
    },
    value,
  );

function assertionOf(to: Addressed, said: SamlStatements): XmlNode {
  const { issuer, client, consumer, requestId, now } = to;
  const at = now.toISOString();
  const until = new Date(now.getTime() + LIFE_MS).toISOString();
  const { attributes, signedInAt, sessionIndex, sessionUntil, context } = said;
  return xml(
    'saml:Assertion',
    { ID: newXmlId(), Version: '2.0', IssueInstant: at },
    issuerNode(issuer),
    xml(
      'saml:Subject',
      {},
      nameIdNode(said.nameId, to),
      xml(
        'saml:SubjectConfirmation',
        { Method: BEARER },
        xml('saml:SubjectConfirmationData', {
          Recipient: consumer,
          NotOnOrAfter: until,
          InResponseTo: requestId ?? undefined,
        }),
      ),
    ),
    xml(
      'saml:Conditions',
      { NotBefore: new Date(now.getTime() - EARLIER_MS).toISOString(), NotOnOrAfter: until },
      xml('saml:AudienceRestriction', {}, xml('saml:Audience', {}, client.entityId)),
    ),
    xml(
      'saml:AuthnStatement',
      {
        AuthnInstant: signedInAt.toISOString(),
        SessionIndex: sessionIndex,
        SessionNotOnOrAfter: sessionUntil.toISOString(),
      },
      xml('saml:AuthnContext', {}, xml('saml:AuthnContextClassRef', {}, context)),
    ),
    attributes.length > 0 ? xml('saml:AttributeStatement', {}, attributes.map(attributeNode)) : undefined,
  );
}

const attributeNode = ({ name, format, values }: Attribute): XmlNode =>
  xml(
    'saml:Attribute',
    { Name: name, NameFormat: nameFormat(format) },
    values.map((value) => xml('saml:AttributeValue', {}, value)),
  );

const responseNode = ({ issuer, consumer, requestId, now }: Addressed, ...content: readonly XmlNode[]): XmlNode =>
  xml(
    'samlp:Response',
    {
      ID: newXmlId(),
      Version: '2.0',
      IssueInstant: now.toISOString(),
      Destination: consumer,
      InResponseTo: requestId ?? undefined,
    },
    issuerNode(issuer),
    ...content,
  );

/**
 * If a client wants neither part signed, the assertion is signed all the same: without a signature, its origin is
 * unknown.
 */
export async function assertionResponse(to: Addressed, said: SamlStatements, signer: XmlSigner): Promise<string> {
  const { client } = to;
  const plain = assertionOf(to, said);
  const assertion = client.signAssertions || !client.signResponses ? await signed(plain, ISSUER_FIRST, signer) : plain;
  const { encryptionCertificate: certificate } = client;
  const content =
    client.encryptAssertions && certificate !== null
      ? xml('saml:EncryptedAssertion', {}, encrypted(assertion, certificate))
      : assertion;
  const response = responseNode(to, statusNode(SUCCESS), content);
  return canonicalXml(client.signResponses ? await signed(response, ISSUER_FIRST, signer) : response);
}

export const failedResponse = async (
  to: Addressed,
  { top, code, message }: Failed,
  signer: XmlSigner,
): Promise<string> =>
  canonicalXml(await signed(responseNode(to, statusNode(top, code, message)), ISSUER_FIRST, signer));
