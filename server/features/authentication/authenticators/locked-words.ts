// The words for a code of a user whom too many wrong codes have locked: a right code is refused then, too.
import { text } from '../../../http/texts.ts';
import type { Step } from './authenticator.ts';

/** Only a user who has proven another factor learns of the lock; for any other visitor each code reads as a wrong one. */
export const lockedWords = ({ proven }: Pick<Step, 'proven'>, wrong: string): string =>
  proven === undefined ? wrong : text('push.locked');
