// Required actions. Decisions "User".
import { z } from 'zod';

/** In the order in which a sign-in shows them. */
export const requiredActions = [
  'UPDATE_PASSWORD',
  'CONFIGURE_OTP',
  'CONFIGURE_PASSKEY',
  'CONFIGURE_DEVICE',
  'CONFIGURE_RECOVERY_CODES',
  'VERIFY_EMAIL',
  'VERIFY_PHONE',
  'UPDATE_PROFILE',
  'TERMS',
] as const;
export const RequiredAction = z.enum(requiredActions).describe('What the person must do before they are signed in');
export type RequiredAction = z.infer<typeof RequiredAction>;
