// A self-signed certificate for a key pair: SAML's metadata and signatures carry a public key in it. The certificate proves
// nothing beyond the key; its reader trusts the metadata that carries it. RFC 5280. The same input gives the same bytes.
import { type KeyObject, sign } from 'node:crypto';

const COMMON_NAME = '2.5.4.3';
const SHA256_WITH_RSA = '1.2.840.113549.1.1.11';
const NULL = new Uint8Array([5, 0]).buffer;
const V3 = 2;
/** The most characters of a common name in X.509 (RFC 5280, ub-common-name). */
const LONGEST_NAME = 64;

export interface CertificateInput {
  name: string;
  /** A UUID. */
  serial: string;
  /** DER, SubjectPublicKeyInfo. */
  publicKey: Buffer;
  privateKey: KeyObject;
  from: Date;
  until: Date;
}

/** Loaded when the first certificate is made. In the bundle, a dynamic import of CommonJS has only a default export. */
const x509Library = async () => (await import('@peculiar/asn1-x509')).default;
const schemaLibrary = async () => (await import('@peculiar/asn1-schema')).default;

/** @returns the certificate in DER; a name longer than X.509 permits is cut */
export async function selfSigned(input: CertificateInput): Promise<Buffer> {
  const [x509, { AsnConvert, OctetString }] = await Promise.all([x509Library(), schemaLibrary()]);
  const algorithm = new x509.AlgorithmIdentifier({ algorithm: SHA256_WITH_RSA, parameters: NULL });
  const value = new x509.AttributeValue({ utf8String: input.name.slice(0, LONGEST_NAME) });
  const type = new x509.AttributeTypeAndValue({ type: COMMON_NAME, value });
  const name = new x509.Name([new x509.RelativeDistinguishedName([type])]);
  const usage = new x509.KeyUsage(x509.KeyUsageFlags.digitalSignature);
  const content = new x509.TBSCertificate({
    version: V3,
    // the leading byte 1 keeps the number positive for any UUID
    serialNumber: Uint8Array.from(Buffer.from(`01${input.serial.replaceAll('-', '')}`, 'hex')).buffer,
    signature: algorithm,
    issuer: name,
    subject: name,
    validity: new x509.Validity({ notBefore: input.from, notAfter: input.until }),
    subjectPublicKeyInfo: AsnConvert.parse(input.publicKey, x509.SubjectPublicKeyInfo),
    extensions: new x509.Extensions([
      new x509.Extension({
        extnID: x509.id_ce_keyUsage,
        critical: true,
        extnValue: new OctetString(AsnConvert.serialize(usage)),
      }),
    ]),
  });
  const signature = await signed(Buffer.from(AsnConvert.serialize(content)), input.privateKey);
  return Buffer.from(
    AsnConvert.serialize(
      new x509.Certificate({
        tbsCertificate: content,
        signatureAlgorithm: algorithm,
        signatureValue: Uint8Array.from(signature).buffer,
      }),
    ),
  );
}

const signed = (bytes: Buffer, key: KeyObject): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    sign('sha256', bytes, key, (error, signature) => (error ? reject(error) : resolve(signature)));
  });
