// Owns: the pages in German, whose words are long.
// Does not own: what must hold of a page (test/support/page-checks.ts), other languages (pages.test.ts, languages*.test.ts).
import { checkPages } from '../support/page-checks.ts';
import { stopNames } from '../support/page-walk.ts';

checkPages({ de: stopNames });
