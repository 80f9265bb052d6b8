// Marks exported users who don't fit the realm's user profile, because it is newer than they are. The mark names the
// faults, so that the document can be imported into an empty realm. Decisions "User profile".
import type { UserProfile } from '../../../contract/user-profile.ts';
import { profileFaults } from '../../../domain/user-profile.ts';
import { lines } from './user-rows.ts';

/** The text before which the field is inserted: fields are sorted, and quotes within texts are escaped. */
const AFTER = ',"requiredActions":';

/** @param rows users as an export has them: one object per line, preceded by a comma */
export async function* withUnfit(rows: AsyncIterable<Buffer>, profile: UserProfile): AsyncGenerator<Buffer> {
  for await (const line of lines(rows)) {
    const faults = profileFaults(profile, { by: 'document', before: undefined, after: JSON.parse(line.slice(1)) });
    const paths = JSON.stringify(faults.map(({ path }) => path).sort());
    const marked = faults.length === 0 ? line : line.replace(AFTER, () => `,"olderThanProfile":${paths}${AFTER}`);
    yield Buffer.from(`${marked}\n`);
  }
}
