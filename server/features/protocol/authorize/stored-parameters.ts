// The parameters of a client's request, as they are stored until a browser or a device goes on with it: a pushed request, that of a
// device, one by the backchannel. Pure.
import type { Form } from '../../../http/form.ts';
import { OAuthError } from '../../../http/oauth-error.ts';
import type { ClientView } from '../../configuration/clients/view.ts';

const MOST_CHARACTERS = 20_000;
const PROOFS = ['client_secret', 'client_assertion', 'client_assertion_type'];

/**
 * The form as text, without the parameters that authenticated the client.
 * @param dpopJkt the key that the code will be bound to, by a DPoP proof with this request (RFC 9449 §10.1)
 * @param without further parameters that are not stored
 * @throws OAuthError `invalid_request` for too long a request
 */
export function storedParameters(
  form: Form,
  client: ClientView,
  { dpopJkt, without = [] }: { dpopJkt?: string | undefined; without?: readonly string[] } = {},
): string {
  const kept = new URLSearchParams(form.text);
  for (const name of [...PROOFS, ...without]) kept.delete(name);
  kept.set('client_id', client.clientId);
  if (dpopJkt !== undefined) kept.set('dpop_jkt', dpopJkt);
  const text = kept.toString();
  if (text.length > MOST_CHARACTERS)
    throw new OAuthError('invalid_request', 'The request is too long', { status: 413 });
  return text;
}
