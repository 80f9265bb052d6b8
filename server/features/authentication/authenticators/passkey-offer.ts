// Conditional create (WebAuthn Level 3 §5.1.3): after a sign-in with a password, the page lets the browser create a passkey
// without asking, which it does if its password manager has just filled in the password. The step proves nothing and never
// fails: without a passkey the sign-in ends as before. features/authentication/sign-in/passkey-offer.ts says when it comes.
import type { Transact } from '../../../db/transact.ts';
import { mustHold } from '../../../domain/proof.ts';
import { html } from '../../../http/html.ts';
import { text } from '../../../http/texts.ts';
import type { Passkeys } from '../../people/credentials/passkeys.ts';
import type { PageStep } from './authenticator.ts';

export interface PasskeyOfferDeps {
  passkeys: Pick<Passkeys, 'creation' | 'enrol'>;
  transact: Transact;
}

export function createPasskeyOffer({ passkeys, transact }: PasskeyOfferDeps): PageStep {
  return {
    async begin({ realm, user, site, challenge, settings }) {
      if (!user) throw new Error('a passkey is offered to a user');
      const options = await passkeys.creation(realm, user, { site, challenge, realmName: settings.displayName });
      return {
        title: text('passkey.offerTitle'),
        submit: text('passkey.offerGoOn'),
        plain: true,
        script,
        body: html`<p class="lead">${text('passkey.offerLead')}</p>
<input type="hidden" name="passkey" data-offer="${JSON.stringify(options)}">`,
      };
    },

    async verify({ realm, user, proven, site, challenge, byThem }, { passkey }) {
      if (!user || !proven) throw new Error('a passkey is offered to a user');
      if (!passkey) return { do: 'done' };
      const made = { sent: passkey, site, challenge, label: null, conditional: true } as const;
      await transact(
        realm,
        async (tx) => {
          const key = await passkeys.enrol(tx, byThem, realm, user, made);
          if (key.ok) await mustHold(tx.sql, realm, proven);
        },
        { bookkeeping: true },
      );
      return { do: 'done' };
    },
  };
}

/** How long the browser has, in milliseconds. It answers at once unless it shows something to the user. */
const PATIENCE_MS = 3_000;

const script = `(async () => {
const field = document.querySelector('input[data-offer]');
try {
  const able = await window.PublicKeyCredential?.getClientCapabilities?.();
  if (able?.conditionalCreate) {
    const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(JSON.parse(field.dataset.offer));
    const signal = AbortSignal.timeout(${PATIENCE_MS});
    const made = await navigator.credentials.create({ publicKey, mediation: 'conditional', signal });
    field.value = JSON.stringify(made.toJSON());
  }
} catch {}
field.form.submit();
})();`;
