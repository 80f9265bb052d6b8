// Exports of Keycloak in which one thing is broken, forty of them. keycloak.broken.test.ts takes the first twelve.
import { brokenExportTests } from '../../support/keycloak-broken.ts';

brokenExportTests(40);
