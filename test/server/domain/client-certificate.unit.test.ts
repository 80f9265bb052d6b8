// Which signatures of an authority count.
import { expect, test } from 'vitest';
import { pathFault, readCertificate } from '../../../server/domain/client-certificate.ts';
import { makeAuthority, makeCertificate, pss } from '../../support/certificates.ts';

test.each([
  ['SHA-256', undefined],
  ['SHA-512', undefined],
  ['SHA-1', 'it is signed by an algorithm that is not accepted'],
] as const)('a signature of RSA-PSS by %s', async (hash, fault) => {
  const authority = await makeAuthority('CN=Authority', { algorithm: pss(hash) });
  const { der } = await makeCertificate({ by: authority });
  const found = pathFault(readCertificate(der), {
    between: [],
    authorities: [readCertificate(authority.der)],
    now: new Date(),
  });
  expect(found).toBe(fault);
});
