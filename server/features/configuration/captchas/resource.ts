// Owns: keys of hosted CAPTCHAs as administrators configure them.
// Does not own: their fields and routes (contract/captchas.ts), showing and checking a CAPTCHA (check.ts).
// Implements: specification 2.3, 4.2.
import { captchas } from '../../../contract/captchas.ts';
import { declaredResource, type ResourceDeps } from '../../../resource/declared.ts';

export const captchasResource = (deps: ResourceDeps) =>
  declaredResource(
    captchas,
    {
      sentTo: ({ fields: { provider, verifyUrl } }) => ({ provider, verifyUrl }),
      detail: ({ provider, siteKey }) => ({ provider, siteKey }),
    },
    deps,
  );
