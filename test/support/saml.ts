// Owns: what tests of SAML need: a certificate, a key pair of a test's own, metadata, signatures.
// Does not own: reading any of it (server/xml, server/features/configuration/saml-clients).
import {
  constants,
  createCipheriv,
  createPrivateKey,
  createSecretKey,
  generateKeyPairSync,
  type KeyObject,
  publicEncrypt,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import xmlCrypto from 'xml-crypto';

/** A certificate whose key was discarded. */
export const SAML_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIDGTCCAgGgAwIBAgIUII+Kuo4Z2orxCCZ36nQc50UDkw0wDQYJKoZIhvcNAQEL
BQAwGzEZMBcGA1UEAwwQd2lraS5leGFtcGxlLmNvbTAgFw0yNjExMjIxNTIwNDZa
GA8yMTI2MTAyOTE1MjA0NlowGzEZMBcGA1UEAwwQd2lraS5leGFtcGxlLmNvbTCC
ASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAJk8gJVl5klbKL7zKrKLfqI3
642TDrw9xlD66k8u/DU7Ow614FrL5PbJfhtyirBz2h/d0pzZwAWYrMzMXKmAQbOO
EHFKYITvU1dzrkWbDCHOQ3HfuZs2iXP1A6+zHPE4lCLzauoFejo7SY27ARaCf7Qj
GqP9r4YO8VsdTZJdzSen0TRDNB9242gDmjMYxCF1X04jmfa6lawD6LeLz89r98gX
vyhTPJzcyoUY+Ug7QGTQYrs/Ga9MF49mFeZVaDiA5Zm/wwpbZr/cHGWCbsMOj8Fk
smQ//GPJs6VHEn+MmVHe3PH01jNT6oDQV8nHJuCxrqO+Sr4xIX0Qoyu+3664VWsC
AwEAAaNTMFEwHQYDVR0OBBYEFHdzBkPZVyOStYGiFeSEuRurwShdMB8GA1UdIwQY
MBaAFHdzBkPZVyOStYGiFeSEuRurwShdMA8GA1UdEwEB/wQFMAMBAf8wDQYJKoZI
hvcNAQELBQADggEBAA5GvkYFPQxsS3TjnDccwvjpprmu/rv2QmeOuA2jH42CnyyB
9o0ZexcHOACLNyIvIJM7N222KcqJtLxhEv/71cgrid5xR26UKAvXCxp+bjcx19zD
chDeRCYdAeec6RKiEtjlxWpiWK2qaDmVkX+llBZgJDi4uvTKoMsNGLLMyOot85KN
RpT+/8WpHoN7k2asslU08edic+9xWcu/l9KT8UBp80gebkiXEad8J1EteLXJfNbk
agTM5yCqNee56XJthDsu7DIYhmfKZEKeDFPhmHtqIVLgXOOpiICYBiMuzJNsisfM
dlcVzqwzE5xDqVJ2CT1Sh0WAALIzOFGa4DgFld4=
-----END CERTIFICATE-----
`;

/** DER: a tag, its length, what it holds. */
function der(tag: number, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const size = body.length < 128 ? [body.length] : [0x82, body.length >> 8, body.length & 255];
  return Buffer.concat([Buffer.from([tag, ...size]), body]);
}

/** RSA, with its certificate. */
export function samlKeyPair(): { certificate: string; key: string } {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return {
    certificate: certificateOf(publicKey, privateKey),
    key: String(privateKey.export({ type: 'pkcs8', format: 'pem' })),
  };
}

export function certificateOf(publicKey: KeyObject, signer: KeyObject): string {
  const sha256WithRsa = der(0x30, der(0x06, Buffer.from('2a864886f70d01010b', 'hex')), der(0x05));
  const name = der(0x30, der(0x31, der(0x30, der(0x06, Buffer.from('550403', 'hex')), der(0x0c, Buffer.from('wiki')))));
  const validity = der(0x30, ...['20260101000000Z', '20660101000000Z'].map((at) => der(0x18, Buffer.from(at))));
  const content = der(
    0x30,
    der(0x02, Buffer.from([1])),
    sha256WithRsa,
    name,
    validity,
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
  );
  const signature = der(0x03, Buffer.from([0]), sign('sha256', content, signer));
  const whole = der(0x30, content, sha256WithRsa, signature).toString('base64');
  const lines = whole.match(/.{1,64}/g)?.join('\n');
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

const XENC = 'http://www.w3.org/2001/04/xmlenc#';
const XENC11 = 'http://www.w3.org/2009/xmlenc11#';

/** An element as its sender encrypts it. @param cipher and @param transport as others have them */
export function encryptedXml(
  text: string,
  certificate: string,
  {
    cipher = 'aes-256-gcm',
    transport = 'oaep',
  }: { cipher?: 'aes-256-gcm' | 'aes-256-cbc'; transport?: 'oaep' | 'pkcs1' } = {},
): string {
  const [key, { publicKey }] = [randomBytes(32), new X509Certificate(certificate)];
  const gcm = cipher === 'aes-256-gcm';
  const iv = randomBytes(gcm ? 12 : 16);
  const gcmBy = gcm && createCipheriv('aes-256-gcm', key, iv);
  const by = gcmBy || createCipheriv('aes-256-cbc', key, iv);
  const body = [iv, by.update(text), by.final(), ...(gcmBy ? [gcmBy.getAuthTag()] : [])];
  const padding = transport === 'oaep' ? constants.RSA_PKCS1_OAEP_PADDING : constants.RSA_PKCS1_PADDING;
  const carried = publicEncrypt({ key: publicKey, padding }, key).toString('base64');
  const method = transport === 'oaep' ? `${XENC}rsa-oaep-mgf1p` : `${XENC}rsa-1_5`;
  return `<saml:EncryptedAssertion xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"><xenc:EncryptedData xmlns:xenc="${XENC}" Type="${XENC}Element"><xenc:EncryptionMethod Algorithm="${gcm ? `${XENC11}aes256-gcm` : `${XENC}aes256-cbc`}"/><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey><xenc:EncryptionMethod Algorithm="${method}"/><xenc:CipherData><xenc:CipherValue>${carried}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedKey></ds:KeyInfo><xenc:CipherData><xenc:CipherValue>${Buffer.concat(body).toString('base64')}</xenc:CipherValue></xenc:CipherData></xenc:EncryptedData></saml:EncryptedAssertion>`;
}

export const metadataOf = (
  entityId: string,
  { attributes = '', provider = '', inside = '' }: { attributes?: string; provider?: string; inside?: string } = {},
): string => `<md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" ID="_1" entityID="${entityId}"${attributes}>
  <md:SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol"${provider}>${inside}
    <md:AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${entityId}/acs" index="1"/>
  </md:SPSSODescriptor>
</md:EntityDescriptor>`;

const SHA1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

/** @param algorithm of the signature; the digest goes with it, where none is said */
export const signedXml = (
  text: string,
  key: string,
  algorithm = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  digest = algorithm.endsWith('rsa-sha1') ? SHA1 : SHA256,
): string => withSignature(text, createPrivateKey(key), { algorithm, digest });

/** Under a secret that both sides would have to know. */
export const macXml = (text: string, secret: string): string =>
  withSignature(text, createSecretKey(Buffer.from(secret)), {
    algorithm: 'http://www.w3.org/2000/09/xmldsig#hmac-sha1',
    digest: SHA256,
  });

function withSignature(
  text: string,
  privateKey: KeyObject,
  { algorithm, digest }: { algorithm: string; digest: string },
): string {
  const signature = new xmlCrypto.SignedXml({
    privateKey,
    signatureAlgorithm: algorithm,
    canonicalizationAlgorithm: 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  if (privateKey.type === 'secret') signature.enableHMAC();
  signature.addReference({
    xpath: '/*',
    transforms: ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', 'http://www.w3.org/2001/10/xml-exc-c14n#'],
    digestAlgorithm: digest,
  });
  signature.computeSignature(text, { prefix: 'ds', location: { reference: '/*', action: 'prepend' } });
  return signature.getSignedXml();
}
