// The key that signs a realm's SAML messages: the active one, with its certificate. Specification 4.3.
import type { XmlSigner } from '../../../xml/sign.ts';
import type { Keys } from './service.ts';

export const createSigningKeyOf =
  (keys: Pick<Keys, 'active' | 'certificates'>) =>
  async (realm: string): Promise<XmlSigner> => {
    const { keyId, privateKey } = await keys.active(realm);
    const own = (await keys.certificates(realm)).find((one) => one.keyId === keyId);
    if (!own) throw new Error(`the key ${keyId} of ${realm} has no certificate`);
    return { privateKey, certificate: own.certificate };
  };
