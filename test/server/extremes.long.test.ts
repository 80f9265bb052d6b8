// Each field of each operation at each of its extremes. It takes an hour; extremes.test.ts takes one of them at each field.
import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(Number.POSITIVE_INFINITY);
