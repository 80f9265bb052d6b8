// Each field of each operation at two of its extremes, another two at each field; all of them: extremes.long.test.ts.
import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(2);
