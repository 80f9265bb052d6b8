// Sources of passwords outside the realm (directories), asked when the local password is missing or wrong. A password that
// a source confirms is a sign-in like any other: lockouts, required actions and proofs apply. Decisions "User federation".

export interface ElsewhereAttempt {
  realm: string;
  username: string;
  password: string;
  /** The local user with this name, if there is one. */
  user: { id: string } | undefined;
  /** false: the source answers as usual, but doesn't send the password to the directory. */
  tried: boolean;
  /** The user has the credential that proofs of the password refer to. */
  settled: boolean;
  /**
   * Counts an attempt at the user to whom the source maps a name that is unknown here, and calls `look`, which checks the
   * password. undefined: no user of the realm. `look` gets whether the user may be tried. If `look` throws, the attempt
   * doesn't count.
   */
  guessAt(userId: string | undefined, look: (mayTry: boolean) => Promise<boolean>): Promise<boolean>;
}

export interface PasswordSource {
  /**
   * With `away: true`, the password is the last one that the source accepted, and the source can't be asked now. `away`: no
   * source can answer. `wrong-or-away`: one source refuses the password, but not all can be asked; from outside it is the
   * same as `away`.
   */
  check(attempt: ElsewhereAttempt): Promise<{ userId: string; away?: true } | 'wrong' | 'away' | 'wrong-or-away'>;
  /** The name of the directory that keeps this user's password; undefined: the realm keeps it. */
  keeperOf(realm: string, userId: string): Promise<string | undefined>;
}
