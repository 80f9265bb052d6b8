// Each field of each operation at one of its extremes, another one at each field; three: extremes.long.test.ts.
import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(1);
