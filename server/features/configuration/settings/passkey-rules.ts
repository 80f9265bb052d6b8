// The rules across a realm's settings of passkeys, pure. docs/passkeys.md.
import { labelOf, MOST_LABELS } from '../../../contract/passkeys.ts';
import type { RealmSettingsDto } from '../../../contract/settings.ts';

interface Fault {
  path: keyof RealmSettingsDto;
  message: string;
}

/** Whether a page at the host may use passkeys of the RP ID (WebAuthn §5.1.3, without the list of public suffixes). */
const covers = (rpId: string, host: string): boolean =>
  host === rpId || (rpId.includes('.') && host.endsWith(`.${rpId}`));

export function passkeyFaults(wanted: RealmSettingsDto, baseUrl: string): Fault[] {
  const { passkeyAttestation: attestation, passkeyMinimumCertification: certification, passkeyRpId: rpId } = wanted;
  const isProven = attestation === 'direct' || attestation === 'enterprise';
  const hosts = [baseUrl, wanted.issuer ?? baseUrl].map((address) => new URL(address).hostname);
  const labels = new Set(wanted.passkeyRelatedOrigins.map(labelOf));
  const faults: Fault[] = [];
  if (certification !== null && !isProven) {
    const message = 'passkeyMinimumCertification needs passkeyAttestation direct or enterprise';
    faults.push({ path: 'passkeyMinimumCertification', message }, { path: 'passkeyAttestation', message });
  }
  if (rpId !== null && !hosts.some((host) => covers(rpId, host)))
    faults.push({
      path: 'passkeyRpId',
      message: 'must be the host of the server or of the issuer, or a parent domain',
    });
  if (labels.size > MOST_LABELS)
    faults.push({
      path: 'passkeyRelatedOrigins',
      message: `must not have more than ${MOST_LABELS} domains, which is all that browsers consider`,
    });
  return faults;
}
