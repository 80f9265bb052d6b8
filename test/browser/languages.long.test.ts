// Owns: that the pages fit a narrow phone in each language that languages.test.ts leaves out.
// Does not own: what must hold of a page in a language (test/support/language-walk.ts).
import { TRANSLATED_LANGUAGES } from '../../server/http/languages.ts';
import { THREE, walkInLanguages } from '../support/language-walk.ts';

walkInLanguages(TRANSLATED_LANGUAGES.filter((locale) => !THREE.some((one) => one === locale)));
