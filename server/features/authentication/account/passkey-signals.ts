// The script by which the account page tells the browser which of the user's passkeys still work here and what the user is
// called (Signal API, WebAuthn Level 3 §5.1.10), so that its password managers hide the others. Browsers without it do nothing.
export const passkeySignalScript = `(async () => {
const { rpId, userId, name, displayName, accepted } = JSON.parse(document.querySelector('[data-passkeys]').dataset.passkeys);
const { PublicKeyCredential: api } = window;
try {
  await api?.signalAllAcceptedCredentials?.({ rpId, userId, allAcceptedCredentialIds: accepted });
  await api?.signalCurrentUserDetails?.({ rpId, userId, name, displayName });
} catch {}
})();`;
