// Owns: encrypting the server's own XML for a recipient's certificate: AES-256-GCM under a key that RSA-OAEP carries.
// Does not own: the content and the recipient (features).
// Implements: XML Encryption 1.1 §5.2.4 (AES-GCM), §5.5.2 (RSA-OAEP; its digest and mask are SHA-1's, which every recipient supports).
import { constants, createCipheriv, publicEncrypt, randomBytes, X509Certificate } from 'node:crypto';
import { canonicalXml, type XmlNode, xml } from './write.ts';

const ELEMENT = 'http://www.w3.org/2001/04/xmlenc#Element';
const AES_256_GCM = 'http://www.w3.org/2009/xmlenc11#aes256-gcm';
const RSA_OAEP = 'http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p';
/** OAEP's default digest: the weaknesses of SHA-1 don't affect OAEP. */
const OAEP_DIGEST = 'http://www.w3.org/2000/09/xmldsig#sha1';

/** @param certificate in PEM, of an RSA key */
export function encrypted(node: XmlNode, certificate: string): XmlNode {
  const key = randomBytes(32);
  const iv = randomBytes(12);
  const cipher = createCipheriv('aes-256-gcm', key, iv);
  const body = Buffer.concat([iv, cipher.update(canonicalXml(node)), cipher.final(), cipher.getAuthTag()]);
  const { publicKey } = new X509Certificate(certificate);
  const carried = publicEncrypt({ key: publicKey, padding: constants.RSA_PKCS1_OAEP_PADDING, oaepHash: 'sha1' }, key);
  return xml(
    'xenc:EncryptedData',
    { Type: ELEMENT },
    xml('xenc:EncryptionMethod', { Algorithm: AES_256_GCM }),
    xml(
      'ds:KeyInfo',
      {},
      xml(
        'xenc:EncryptedKey',
        {},
        xml('xenc:EncryptionMethod', { Algorithm: RSA_OAEP }, xml('ds:DigestMethod', { Algorithm: OAEP_DIGEST })),
        xml('xenc:CipherData', {}, xml('xenc:CipherValue', {}, carried.toString('base64'))),
      ),
    ),
    xml('xenc:CipherData', {}, xml('xenc:CipherValue', {}, body.toString('base64'))),
  );
}
