// Exports of Keycloak in which one thing is broken: twelve of them; many more in keycloak.broken.long.test.ts.
import { brokenExportTests } from '../../support/keycloak-broken.ts';

brokenExportTests(12);
