// The text that the quick start prints: the addresses, the credentials, and the next steps to try. Pure.
import { PERSON, REALM } from './person.ts';

export interface Welcome {
  baseUrl: string;
  /** `password` only if this start generated it. */
  administrator: { username: string; password: string | undefined };
  /** Undefined once they have been shown. */
  secrets: { demoPassword: string; demoClientSecret: string } | undefined;
  /** The file that stores them. */
  keptIn: string;
  resources: readonly { name: string; ready: boolean; message: string }[];
}

const before = 'printed at the first start, or from the environment; lost: docs/troubleshooting.md';

export function welcome({ baseUrl, administrator, secrets, keptIn, resources }: Welcome): string {
  const realm = `${baseUrl}/realms/${REALM}`;
  const kept = `kept in ${keptIn}, unless from the environment`;
  const secret = secrets?.demoClientSecret ?? '<secret>';
  return [
    '',
    'Realmkeeper is running.',
    '',
    ...resources.map((r) => `  ${r.ready ? '✓' : '✗'} ${r.name}${r.ready ? '' : `: ${r.message}`}`),
    '',
    `  Sign in            ${realm}/account`,
    `                     ${PERSON} / ${secrets?.demoPassword ?? `(${kept})`}`,
    `  Console            ${baseUrl}/admin/console/`,
    `                     ${administrator.username} / ${administrator.password ?? `(${before})`}`,
    `  Discovery          ${realm}/.well-known/openid-configuration`,
    `  API documentation  ${baseUrl}/swagger-ui.html`,
    '',
    '  A token for a service:',
    `    curl -s -u 'demo-service:${secret}' -d grant_type=client_credentials ${realm}/oauth2/token`,
    ...(secrets ? [] : [`    with the secret that is ${kept}`]),
    '',
    '  On a cluster, the same files (with a server and an operator of their own: README, "On Kubernetes"):',
    '    kubectl apply -f crds/ && kubectl apply -f crds/examples/',
    '',
    '  Change a file in crds/examples/ and watch it being applied. Ctrl-C stops; the data stays.',
    '',
  ].join('\n');
}
