// Why sign-ins failed, as a chart names it; the sign-in report of a user says the same in sentences
// (server/features/operations/sign-in-report/words.ts).

const reasons: Readonly<Record<string, string>> = {
  unknown: 'unknown username',
  wrong: 'wrong password',
  locked: 'locked after failures',
  disabled: 'disabled user',
  away: 'directory does not answer',
  'away-known': 'directory does not answer',
  reported: 'password reported as stolen',
  'otp-wrong': 'wrong one-time code',
  'otp-used': 'one-time code used twice',
  'otp-locked': 'too many one-time codes',
  'otp-missing': 'one-time code missing',
  'code-wrong': 'wrong code',
  withdrawn: 'earlier proof withdrawn',
  'no-admin-role': 'no admin role',
  late: 'answer too late',
  used: 'answer used twice',
  'cross-origin': 'passkey on another site',
  risk: 'refused by the risk policy',
  'no-second-factor': 'no second factor',
  exhausted: 'no step left',
  'nothing-to-do': 'flow proves no user',
  denied: 'denied on a device',
};

/** An unknown reason is shown as the audit log has it. */
export const reasonWords = (reason: string): string => reasons[reason] ?? reason;
