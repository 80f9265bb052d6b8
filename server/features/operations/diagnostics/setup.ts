// Checks of how the server is set up: its addresses, proxies, certificate files, master key and health.
import { DAY_MS } from '../../../contract/durations.ts';
import { loopbackHosts } from '../../../contract/names.ts';
import type { Reseal } from '../../../domain/reseal.ts';
import { certificatesIn } from '../monitoring/components.ts';
import type { HealthReport } from '../monitoring/health.ts';
import { count, type Examination, failure, ok, orWell, skipped, warning } from './check.ts';

/** The request that asked, as it arrived. */
export interface Arrival {
  /** The address of the connection's other end. */
  peer: string;
  /** The address that counts as the client's. */
  client: string;
  /** Whether headers of a proxy came with it. */
  forwarded: boolean;
}

export interface SetUp {
  baseUrl: string;
  production: boolean;
  /** The server runs its own PostgreSQL, for evaluation. */
  embedded: boolean;
  trustsProxies: boolean;
  keys(): number;
  /** The custodian that wraps the keys which seal; undefined: none is configured. */
  custodian(): { custodian: string; keys: number; fault: { message: string; since: Date } | undefined } | undefined;
  certificateFiles: readonly string[];
}

const SOON_MS = 30 * DAY_MS;

function baseAddress({ baseUrl, production, embedded }: SetUp) {
  const { hostname, protocol } = new URL(baseUrl);
  const local = loopbackHosts.has(hostname);
  return orWell(
    [
      local &&
        (production ? failure : warning)(
          `The base address is ${baseUrl}: links in mails lead nowhere from another machine`,
          'Set SVC_BASE_URL to the public address, such as https://login.example.com.',
        ),
      !local && protocol === 'http:' && failure(`${baseUrl} is not encrypted`, 'Set SVC_BASE_URL to an https address.'),
      embedded &&
        warning(
          'The server runs its own PostgreSQL, which is for evaluation',
          'Set DATABASE_URL and SVC_MASTER_KEY: docs/install.md.',
        ),
    ],
    ok(`The base address is ${baseUrl}`),
  );
}

function proxies({ trustsProxies }: SetUp, { peer, client, forwarded }: Arrival) {
  if (forwarded && peer === client)
    return warning(
      `A proxy at ${peer} forwards requests, but its headers are not believed: all clients seem to have its address, and share its limits`,
      `Add it to SVC_TRUST_PROXY, if it is yours: SVC_TRUST_PROXY=${peer}`,
    );
  if (forwarded) return ok(`The proxy at ${peer} is believed`);
  return trustsProxies
    ? ok(`This request came from ${peer} without a proxy`)
    : ok('No proxy is believed, and none forwarded this request');
}

const health = async (report: () => Promise<HealthReport>) => {
  const { components } = await report();
  const down = Object.entries(components).flatMap(([name, { status }]) => (status === 'UP' ? [] : [name]));
  return down.length === 0
    ? ok('All components are up')
    : failure(
        `Down: ${down.join(', ')}`,
        'GET /actuator/health has the components; docs/troubleshooting.md says what each needs.',
      );
};

const masterKey = async (keys: number, reseal: Reseal) => {
  const left = (await reseal.left()).filter(({ secrets }) => secrets > 0);
  if (left.length > 0)
    return warning(
      'Secrets are sealed by an older master key',
      'Run npm run reseal while the keyring holds both keys: docs/backup.md.',
      left.map(({ column, secrets }) => `${column}: ${secrets === 1000 ? '1,000 or more' : secrets}`),
    );
  return keys > 1
    ? ok('All secrets are sealed by the newest master key', 'Older keys seal nothing: drop them from SVC_MASTER_KEY.')
    : ok('All secrets are sealed by the newest master key');
};

function keyCustodian({ custodian, production }: SetUp) {
  const status = custodian();
  if (!status) return ok('No custodian is configured: the master key is in the environment or in a file');
  if (status.fault)
    return (production ? failure : warning)(
      `${status.custodian} has failed since ${status.fault.since.toISOString()}: ${status.fault.message}`,
      'Check its address, and the server’s credentials and rights there, before SVC_DATA_KEY_CACHE_SECONDS are over: then no secret can be read. docs/keys.md',
    );
  return ok(`${status.custodian} wraps ${count(status.keys, 'data key')}`);
}

const certificates = async (files: readonly string[], now: () => Date) => {
  const at = now();
  const found = await Promise.all(
    files.map(async (file) => {
      const ends = (await certificatesIn(file)).map(({ validToDate }) => validToDate);
      const ended = ends.filter((end) => end <= at);
      const soon = ends.filter((end) => end > at && end.getTime() - at.getTime() < SOON_MS);
      if (ended.length > 0)
        return failure(`${count(ended.length, 'certificate')} in ${file} ended`, 'Replace the file.');
      if (soon.length > 0)
        return warning(
          `${count(soon.length, 'certificate ends', 'certificates end')} within 30 days, in ${file}`,
          'Replace the file.',
        );
      return undefined;
    }),
  );
  return orWell(
    found,
    ok(files.length === 0 ? 'No certificate file is configured' : 'No configured certificate ends within 30 days'),
  );
};

export const setUpChecks = ({
  setUp,
  arrival,
  report,
  reseal,
  now,
}: {
  setUp: SetUp;
  arrival: Arrival;
  report(): Promise<HealthReport>;
  reseal: Reseal;
  now: () => Date;
}): Examination[] => [
  { subject: 'base-address', run: async () => baseAddress(setUp) },
  { subject: 'proxies', run: async () => proxies(setUp, arrival) },
  { subject: 'health', run: () => health(report) },
  {
    subject: 'master-key',
    run: async () =>
      setUp.embedded
        ? skipped('The key of the server’s own PostgreSQL is not rotated')
        : masterKey(setUp.keys(), reseal),
  },
  { subject: 'key-custodian', run: async () => keyCustodian(setUp) },
  { subject: 'server-certificates', run: () => certificates(setUp.certificateFiles, now) },
];
