// The script of pages that use or create a passkey; only a script can call `navigator.credentials`. It is inline, with its
// digest in the page's policy. The field's `data-passkey` holds the options, and the field takes the answer. A challenge is
// valid for five minutes: a page that the user returns to after four is reloaded, unless the user has typed something.
export const passkeyScript = `(() => {
const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, '+').replace(/_/g, '/')), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\\+/g, '-').replace(/\\//g, '_').replace(/=+$/, '');
const listed = (list = []) => list.map((one) => ({ ...one, id: bytes(one.id) }));
const read = (o) => ({
  ...o,
  challenge: bytes(o.challenge),
  ...(o.user && { user: { ...o.user, id: bytes(o.user.id) } }),
  ...(o.allowCredentials && { allowCredentials: listed(o.allowCredentials) }),
  ...(o.excludeCredentials && { excludeCredentials: listed(o.excludeCredentials) }),
});
const written = ({ id, rawId, type, response: r }) => JSON.stringify({
  id, rawId: text(rawId), type, clientExtensionResults: {},
  response: {
    clientDataJSON: text(r.clientDataJSON),
    ...(r.attestationObject
      ? { attestationObject: text(r.attestationObject), transports: r.getTransports ? r.getTransports() : [] }
      : {
          authenticatorData: text(r.authenticatorData),
          signature: text(r.signature),
          ...(r.userHandle && { userHandle: text(r.userHandle) }),
        }),
  },
});
let waiting;
for (const field of document.querySelectorAll('input[data-passkey]')) {
  const { form, dataset } = field;
  const publicKey = read(JSON.parse(dataset.passkey));
  const said = form.querySelector('[data-said]');
  const send = (credential) => {
    field.value = written(credential);
    if (dataset.step) {
      const step = document.createElement('input');
      Object.assign(step, { type: 'hidden', name: 'step', value: dataset.step });
      form.append(step);
    }
    form.submit();
  };
  if (dataset.unknown)
    window.PublicKeyCredential?.signalUnknownCredential?.({ rpId: publicKey.rpId, credentialId: dataset.unknown })
      ?.catch(() => {});
  if (!window.PublicKeyCredential) {
    if (said) said.textContent = dataset.unable;
    continue;
  }
  form.addEventListener('submit', async (event) => {
    if (event.submitter?.hasAttribute('data-instead')) return;
    event.preventDefault();
    waiting?.abort();
    try {
      send(await navigator.credentials[dataset.does]({ publicKey }));
    } catch (error) {
      if (said) said.textContent = error.name === 'InvalidStateError' ? dataset.known : dataset.failed;
    }
  });
  if (dataset.does === 'get') {
    const shown = Date.now();
    document.addEventListener('visibilitychange', () => {
      const isTyped = [...document.querySelectorAll('input')].some((one) => one.value !== one.defaultValue);
      if (!document.hidden && Date.now() - shown > 240000 && !isTyped) location.reload();
    });
  }
  const name = document.getElementById('username');
  if (dataset.step && name && !document.getElementById('passkey-error'))
    (async () => {
      if (!(await PublicKeyCredential.isConditionalMediationAvailable?.())) return;
      name.autocomplete = 'username webauthn';
      waiting = new AbortController();
      send(await navigator.credentials.get({ publicKey, mediation: 'conditional', signal: waiting.signal }));
    })().catch(() => {});
}
})();`;
