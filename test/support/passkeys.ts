// Owns: a virtual authenticator in a real Chromium, as WebAuthn's own automation has it (CDP domain WebAuthn).
// Does not own: pages and what people do on them.
// Implements: tests of passkeys with the browser's own ceremonies.
import type { BrowserContext, CDPSession, Page } from 'playwright-core';

export interface VirtualAuthenticator {
  cdp: CDPSession;
  id: string;
  /** Those it holds. */
  all(): Promise<{ credentialId: string; signCount: number; isResidentCredential: boolean }[]>;
  /** Loses all that it holds. */
  forget(): Promise<void>;
  /** Whether it knows its user by now: a finger that is read, or one that is not. */
  verifies(user: boolean): Promise<void>;
}

export async function addAuthenticator(context: BrowserContext, page: Page): Promise<VirtualAuthenticator> {
  const cdp = await context.newCDPSession(page);
  await cdp.send('WebAuthn.enable', { enableUI: false });
  const { authenticatorId: id } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  return {
    cdp,
    id,
    all: async () => (await cdp.send('WebAuthn.getCredentials', { authenticatorId: id })).credentials,
    forget: async () => {
      await cdp.send('WebAuthn.clearCredentials', { authenticatorId: id });
    },
    verifies: async (isUserVerified) => {
      await cdp.send('WebAuthn.setUserVerified', { authenticatorId: id, isUserVerified });
    },
  };
}
