import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(Number.POSITIVE_INFINITY);
