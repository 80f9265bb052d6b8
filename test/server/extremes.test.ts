import { extremesTests } from '../support/extremes-tests.ts';

extremesTests(2);
