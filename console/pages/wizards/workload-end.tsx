// The last step of trusting a workload: what it runs, and the exchanges that came.
import { useState } from 'react';
import { useRead } from '../../api/queries.ts';
import { useMay } from '../../api/session.ts';
import { listEvents } from '../../generated/routes.ts';
import type { Row } from '../../kinds/entry.ts';
import { objectAddress } from '../../kinds/pages.tsx';
import { word } from '../../kinds/shell-words.ts';
import { Badge } from '../../ui/badge.tsx';
import { ButtonLink } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Panel } from '../../ui/page.tsx';
import { Loading, Note, ProblemNote } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { useAddresses } from './addresses.ts';
import type { EndProps } from './create-wizard.tsx';
import { Settings } from './settings-list.tsx';

const exchange = (token: string, endpoint: string): string =>
  `curl -sf ${word(endpoint)} --data-urlencode subject_token="$${token}" \\
  -d grant_type=urn:ietf:params:oauth:grant-type:token-exchange \\
  -d subject_token_type=urn:ietf:params:oauth:token-type:jwt | jq -r .access_token`;
const indented = (text: string, by: number): string => text.replaceAll('\n', `\n${' '.repeat(by)}`);

interface Use {
  /** The work that is done there. */
  words: string;
  code: string;
}
function codeFor(variant: string, row: Row, endpoint: string): Use {
  const audience = String(row.audience);
  switch (variant) {
    case 'github-actions':
      return {
        words: 'The job asks GitHub for a token, and exchanges it. Add this to the workflow.',
        code: `permissions: { id-token: write, contents: read }
steps:
  - run: |
      GITHUB_JWT=$(curl -sf -H "Authorization: Bearer $ACTIONS_ID_TOKEN_REQUEST_TOKEN" \\
        "$ACTIONS_ID_TOKEN_REQUEST_URL&audience=${encodeURIComponent(audience)}" | jq -r .value)
      TOKEN=$(${indented(exchange('GITHUB_JWT', endpoint), 6)})
      echo "::add-mask::$TOKEN"`,
      };
    case 'kubernetes':
      return {
        words: 'The pod mounts a token for the audience, which Kubernetes renews, and exchanges it.',
        code: `volumes:
  - name: realmkeeper
    projected:
      sources:
        - serviceAccountToken: { audience: ${JSON.stringify(audience)}, expirationSeconds: 600, path: token }
---
POD_JWT=$(cat /var/run/realmkeeper/token)
${exchange('POD_JWT', endpoint)}`,
      };
    case 'aws':
      return {
        words: 'A role asks AWS for a token; a pod of EKS mounts one, as in Kubernetes.',
        code: `AWS_JWT=$(aws sts get-web-identity-token --audience ${word(audience)} \\
  --signing-algorithm RS256 --query WebIdentityToken --output text)
${exchange('AWS_JWT', endpoint)}`,
      };
    case 'google-cloud':
      return {
        words: 'The metadata server of the machine gives the token.',
        code: `GOOGLE_JWT=$(curl -sf -H 'Metadata-Flavor: Google' \\
  'http://metadata.google.internal/computeMetadata/v1/instance/service-accounts/default/identity?audience=${encodeURIComponent(audience)}')
${exchange('GOOGLE_JWT', endpoint)}`,
      };
    default:
      return { words: 'The workload exchanges the token of its platform.', code: exchange('PLATFORM_JWT', endpoint) };
  }
}

export default function WorkloadEnd({ realm, variant, entry, row }: EndProps) {
  const may = useMay();
  const addresses = useAddresses(realm);
  const endpoint = addresses.data?.body?.workloadIdentityToken;
  const use = endpoint === undefined ? undefined : codeFor(variant.id, row, endpoint);
  return (
    <>
      <Note tone="good">
        <strong>
          The workload <bdi>{String(row.name)}</bdi> is trusted.
        </strong>
      </Note>
      {addresses.error && <ProblemNote problem={addresses.error} />}
      <Panel title="What counts" lead="Each is compared exactly." plain>
        <Settings
          settings={[
            { name: 'Issuer', value: String(row.issuer) },
            { name: 'Subject', value: String(row.subject) },
            { name: 'Audience', value: String(row.audience) },
            ...(endpoint === undefined ? [] : [{ name: 'Token endpoint', value: endpoint }]),
          ]}
        />
      </Panel>
      {use ? (
        <Panel title="In the workload" lead={use.words}>
          <Code text={use.code} label="Code for the workload" />
        </Panel>
      ) : (
        addresses.isLoading && <Loading lines={4} />
      )}
      {may(realm, 'events:read') ? (
        <Exchanges realm={realm} />
      ) : (
        <Note>The exchanges are shown with the permission events:read.</Note>
      )}
      <div className="row end">
        <ButtonLink to={objectAddress(realm, entry, row)} variant="primary">
          Open the workload identity
        </ButtonLink>
      </div>
    </>
  );
}

const POLL_SECONDS = 5;

/** The workload hears the same refusal whatever failed; the audit log has the reason. */
function Exchanges({ realm }: { realm: string }) {
  const [from] = useState(() => Date.now());
  const events = useRead(
    listEvents,
    { params: { realm }, query: { type: 'WORKLOAD_TOKEN_ISSUED,WORKLOAD_TOKEN_REFUSED', from, limit: 20 } },
    { everySeconds: POLL_SECONDS, keep: true },
  );
  const rows = events.data?.body ?? [];
  return (
    <Panel
      title="Exchanges"
      lead="Since this step was opened. The workload is never told why it is refused; this list says it."
      plain
    >
      {events.error && <ProblemNote problem={events.error} retry={() => void events.refetch()} />}
      {!events.data ? (
        !events.error && <Loading lines={2} />
      ) : rows.length === 0 ? (
        <p className="waiting soft" role="status">
          Waiting for the workload…
        </p>
      ) : (
        <ul className="events" aria-live="polite">
          {rows.map(({ id, type, occurredAt, data, actor }) => (
            <li key={id}>
              <Time ms={occurredAt} />
              <span>
                <bdi>{String(data.subject ?? actor?.name ?? '')}</bdi>
                {typeof data.reason === 'string' && <span className="soft"> {data.reason}</span>}
              </span>
              {type === 'WORKLOAD_TOKEN_ISSUED' ? (
                <Badge tone="good">Got a token</Badge>
              ) : (
                <Badge tone="bad">Refused</Badge>
              )}
            </li>
          ))}
        </ul>
      )}
    </Panel>
  );
}
