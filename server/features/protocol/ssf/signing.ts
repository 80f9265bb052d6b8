// Signs security event tokens with the realm's keys, when they are delivered: a token may wait longer than a key lives.
// RFC 8417 §2.3, SSF 1.0 §4.1.4: its type keeps it apart from every other token.
import type { ClientView } from '../../configuration/clients/view.ts';
import type { Tokens } from '../../configuration/issued-tokens/service.ts';

export const createSetSigner = ({ tokens }: { tokens: Pick<Tokens, 'sign'> }) => ({
  sign: (realm: string, client: Pick<ClientView, 'idTokenSignedResponseAlg'>, claims: object): Promise<string> =>
    tokens.sign(realm, { typ: 'secevent+jwt', algorithm: client.idTokenSignedResponseAlg }, claims),
});
export type SetSigner = ReturnType<typeof createSetSigner>;
