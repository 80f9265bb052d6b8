// Owns: an authenticator in software, as WebAuthn Level 3 has it: a key of its own for each passkey, attestation `none` or `packed`.
// Does not own: a browser's (passkeys.ts).
// Implements: tests of passkeys over HTTP alone.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { decode, type ShownPage } from './person.ts';

interface Creation {
  rp: { id: string };
  challenge: string;
}
const sha256 = (of: string | Uint8Array): Buffer => createHash('sha256').update(of).digest();
const encoded = (of: Uint8Array): string => Buffer.from(of).toString('base64url');

/** CBOR (RFC 8949): lengths below 65,536 are all that is needed. */
function head(major: number, length: number): Buffer {
  if (length < 24) return Buffer.from([(major << 5) | length]);
  if (length < 256) return Buffer.from([(major << 5) | 24, length]);
  return Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
}
const bytes = (of: Uint8Array) => Buffer.concat([head(2, of.length), of]);
const words = (of: string) => Buffer.concat([head(3, of.length), Buffer.from(of)]);
const number = (of: number) => (of < 0 ? head(1, -1 - of) : head(0, of));
const list = (of: Buffer[]) => Buffer.concat([head(4, of.length), ...of]);
const map = (...entries: [Buffer, Buffer][]) => Buffer.concat([head(5, entries.length), ...entries.flat()]);

function coseKey(key: KeyObject): Buffer {
  const { x = '', y = '' } = key.export({ format: 'jwk' });
  return map(
    [number(1), number(2)],
    [number(3), number(-7)],
    [number(-1), number(1)],
    [number(-2), bytes(Buffer.from(x, 'base64url'))],
    [number(-3), bytes(Buffer.from(y, 'base64url'))],
  );
}

/** The make of an authenticator: how it attests keys, and whether they can leave it. */
export interface Make {
  aaguid?: string;
  /** Backup eligible. */
  synced?: boolean;
  /** The certificates of a packed attestation, its own first, in DER; `key` signs. Without certificates: self attestation. */
  packed?: { certificates: readonly Buffer[]; key?: KeyObject };
}

/**
 * @param options `verifies`: it knows its user; `counts`: false: its counter stays 0, as that of most passkeys in a cloud; `client`: more
 * of what the browser says beside the challenge; `present`: false: no user touched it, as in a conditional create
 */
export function createSoftPasskey(
  origin: string,
  {
    verifies = true,
    counts = true,
    present = true,
    client: said = {},
    make: { aaguid = '00000000-0000-0000-0000-000000000000', synced = false, packed } = {},
  }: { verifies?: boolean; counts?: boolean; present?: boolean; client?: object; make?: Make } = {},
) {
  const id = randomBytes(32);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const verified = (verifies ? 0x04 : 0) | (synced ? 0x18 : 0);
  const attested = 0x40 | (present ? 0x01 : 0);
  let counter = 0;
  const dataOf = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type: `webauthn.${type}`, challenge, origin, crossOrigin: false, ...said }));
  const authData = (rpId: string, flags: number, more: Uint8Array = Buffer.alloc(0)) => {
    if (counts) counter += 1;
    const count = Buffer.alloc(4);
    count.writeUInt32BE(counter);
    return Buffer.concat([sha256(rpId), Buffer.from([flags]), count, more]);
  };
  const common = { id: encoded(id), rawId: encoded(id), type: 'public-key', clientExtensionResults: {} };
  return {
    keys: { publicKey, privateKey },
    /** What the browser signs for a creation. */
    clientDataFor: ({ challenge }: Pick<Creation, 'challenge'>): Buffer => dataOf('create', challenge),

    /** `RegistrationResponseJSON`. @param android the certificates of an attestation as Android makes it */
    create({ rp, challenge }: Creation, android?: readonly Buffer[]) {
      const model = Buffer.from(aaguid.replaceAll('-', ''), 'hex');
      const credential = Buffer.concat([model, Buffer.from([0, id.length]), id, coseKey(publicKey)]);
      const data = authData(rp.id, attested | verified, credential);
      const client = dataOf('create', challenge);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), packed?.key ?? privateKey);
      const certificates = android ?? packed?.certificates ?? [];
      const statement = map(
        [words('alg'), number(-7)],
        [words('sig'), bytes(signature)],
        ...(certificates.length > 0 ? [[words('x5c'), list(certificates.map(bytes))] as [Buffer, Buffer]] : []),
      );
      const format = android ? 'android-key' : packed ? 'packed' : 'none';
      const attestationObject = map(
        [words('fmt'), words(format)],
        [words('attStmt'), format === 'none' ? map() : statement],
        [words('authData'), bytes(data)],
      );
      const response = {
        clientDataJSON: encoded(client),
        attestationObject: encoded(attestationObject),
        transports: ['internal'],
      };
      return { ...common, response };
    },

    /** `AuthenticationResponseJSON` */
    get({ rpId, challenge }: { rpId: string; challenge: string }, userHandle?: string) {
      const client = dataOf('get', challenge);
      const data = authData(rpId, 0x01 | verified);
      const signature = sign('sha256', Buffer.concat([data, sha256(client)]), privateKey);
      const response = {
        clientDataJSON: encoded(client),
        authenticatorData: encoded(data),
        signature: encoded(signature),
        ...(userHandle !== undefined && { userHandle }),
      };
      return { ...common, response };
    },
  };
}

/**
 * The answer that the page's script sends.
 * @param handle the server's id of the user for the authenticator
 */
export function answerByPasskey(
  key: ReturnType<typeof createSoftPasskey>,
  { text }: ShownPage,
  handle: string,
): Record<string, string> {
  const [tag = ''] = /<input[^>]*data-passkey=[^>]*>/.exec(text) ?? [];
  const read = (name: string) => decode(new RegExp(`${name}="([^"]*)"`).exec(tag)?.[1] ?? '');
  const step = read('data-step');
  const passkey = JSON.stringify(key.get(JSON.parse(read('data-passkey')), handle));
  return { passkey, ...(step !== '' && { step }) };
}
