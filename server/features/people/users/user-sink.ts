// Takes the users of a document one by one as they arrive. features/operations/transfer passes them on. Specification 2.10.
import type { FieldError } from '../../../contract/problem.ts';
import type { Section } from '../../../resource/part.ts';

/** Opened when the parser meets the document's key `users`. */
export interface UserSink {
  /** @param before the sections that stand before `users` in the document */
  begin(before: readonly Section[]): Promise<void>;
  add(value: unknown, path: string, n: number): FieldError[];
  /** Waits while the sink has a backlog. */
  flush(): Promise<void>;
}
