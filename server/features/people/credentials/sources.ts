// Where passwords are known beside the realm itself: a source is asked where a local one is not the right one. What it finds out
// becomes a sign-in like any other: lock-outs, what is required, proofs. Decisions "User federation".

export interface ElsewhereAttempt {
  realm: string;
  username: string;
  password: string;
  /** Whose name it is here. */
  user: { id: string } | undefined;
  /** False: it looks the same from outside, and the password goes nowhere. */
  tried: boolean;
  /** They hold the credential that a proof rests on. */
  settled: boolean;
  /**
   * Looks at a password of whoever the name, which nobody has here, was found to be: it counts as a guess at them. Undefined: nobody of
   * the realm. `look` learns whether they may be tried; where it throws, nobody looked.
   */
  guessAt(userId: string | undefined, look: (mayTry: boolean) => Promise<boolean>): Promise<boolean>;
}

export interface PasswordSource {
  /** With `away` it is who knew the last password, while nobody can be asked. `away`: nobody can say. `wrong-or-away`: whoever keeps it says no, but not all can be asked; from outside it is the same as `away`. */
  check(attempt: ElsewhereAttempt): Promise<{ userId: string; away?: true } | 'wrong' | 'away' | 'wrong-or-away'>;
  /** The name of whoever keeps somebody's password in place of the realm. */
  keeperOf(realm: string, userId: string): Promise<string | undefined>;
}
