// What a new password must be, pure. Whether a password is right is features/credentials'. Specification 2.3, 8.

/** The rules that a password breaks, as sentences; none: it may be taken. */
export function passwordFaults(
  password: string,
  { minLength, username, email }: { minLength: number; username: string; email: string | null },
): string[] {
  const folded = password.toLowerCase();
  const same = (name: string | null) => name !== null && folded === name.toLowerCase();
  return [
    ...([...password].length < minLength ? [`must have at least ${minLength} characters`] : []),
    ...(same(username) ? ['must not be the username'] : []),
    ...(same(email) || same(email?.split('@')[0] ?? null) ? ['must not be the e-mail address'] : []),
    ...(password.trim() === '' ? ['must not be blank'] : []),
  ];
}
