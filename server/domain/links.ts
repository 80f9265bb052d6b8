// Links that finish a sign-in which asked for them: what they lead to, and how the sign-in is found again. The secret is in the
// message alone; what is kept is its digest.
import { sha256 } from '../crypto/tokens.ts';

export const linkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/link?token=${secret}`;

/** A link that leads somewhere by itself, in whichever browser. */
export const resetLinkTo = (origin: string, realm: string, secret: string): string =>
  `${origin}/realms/${realm}/login/reset?token=${secret}`;

export const linkDigest = (secret: string): string => sha256(`link:${secret}`).toString('base64url');
