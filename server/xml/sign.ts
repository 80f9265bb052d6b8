// Owns: signing the server's own XML: enveloped, RSA with SHA-256, with the certificate.
// Does not own: which key signs, what is signed (features); checking others' signatures (signature.ts).
// Implements: XML Signature §6; SAML 2.0 Core §5.4: one reference, to the ID of the element that the signature stands in.
import { hash, type KeyObject, sign } from 'node:crypto';
import { canonicalXml, type XmlNode, xml } from './write.ts';

const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const ENVELOPED = 'http://www.w3.org/2000/09/xmldsig#enveloped-signature';
export const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

export interface XmlSigner {
  privateKey: KeyObject;
  /** Base64 DER. */
  certificate: string;
}

/** Signs in the thread pool, so that the event loop isn't blocked. */
export const rsaSha256 = (text: string, key: KeyObject): Promise<string> =>
  new Promise((resolve, reject) => {
    sign('sha256', Buffer.from(text), key, (error, signature) =>
      error ? reject(error) : resolve(signature.toString('base64')),
    );
  });

export const keyInfo = (certificate: string): XmlNode =>
  xml('ds:KeyInfo', {}, xml('ds:X509Data', {}, xml('ds:X509Certificate', {}, certificate)));

/** The node with its signature. @param at the index of the signature among the children, which schemas define */
export async function signed(node: XmlNode, at: number, { privateKey, certificate }: XmlSigner): Promise<XmlNode> {
  const info = xml(
    'ds:SignedInfo',
    {},
    xml('ds:CanonicalizationMethod', { Algorithm: EXCLUSIVE }),
    xml('ds:SignatureMethod', { Algorithm: RSA_SHA256 }),
    xml(
      'ds:Reference',
      { URI: `#${node.attributes.ID}` },
      xml(
        'ds:Transforms',
        {},
        xml('ds:Transform', { Algorithm: ENVELOPED }),
        xml('ds:Transform', { Algorithm: EXCLUSIVE }),
      ),
      xml('ds:DigestMethod', { Algorithm: SHA256 }),
      xml('ds:DigestValue', {}, hash('sha256', canonicalXml(node), 'base64')),
    ),
  );
  const value = xml('ds:SignatureValue', {}, await rsaSha256(canonicalXml(info), privateKey));
  const signature = xml('ds:Signature', {}, info, value, keyInfo(certificate));
  return { ...node, children: node.children.toSpliced(at, 0, signature) };
}
