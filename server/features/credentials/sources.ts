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
}

export interface PasswordSource {
  /** `away`: nobody can say. */
  check(attempt: ElsewhereAttempt): Promise<{ userId: string } | 'wrong' | 'away'>;
  /** The name of whoever keeps somebody's password in place of the realm. */
  keeperOf(realm: string, userId: string): Promise<string | undefined>;
}
