// Each field of each operation at three of its extremes; extremes.test.ts takes one of them at each field.
// EXTREMES=100 takes all, which takes an hour.
import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(Number(process.env.EXTREMES ?? 3));
