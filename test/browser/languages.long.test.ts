// Owns: that the pages fit a narrow phone in every language.
// Does not own: what must hold of a page in a language (test/support/language-walk.ts).
import { written } from '../../server/http/languages.ts';
import { walkInLanguages } from '../support/language-walk.ts';

walkInLanguages(written);
