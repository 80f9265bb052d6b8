// Where a document's users go while they arrive, one by one. features/operations/transfer hands them on. Specification 2.10.
import type { FieldError } from '../../../contract/problem.ts';
import type { Section } from '../../../resource/part.ts';

/** Opened by the first sign of the key. */
export interface UserSink {
  /** @param before what the document declares before its users */
  begin(before: readonly Section[]): Promise<void>;
  add(value: unknown, path: string, n: number): FieldError[];
  /** Waits while the sink is behind. */
  flush(): Promise<void>;
}
