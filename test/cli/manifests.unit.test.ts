// A realm document as manifests: nothing is lost, nothing is added, every name is one that Kubernetes takes.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { label, objectName } from '../../cli/manifest-names.ts';
import { secretTemplates, yamlStream } from '../../cli/manifest-text.ts';
import { type Manifest, manifestsOf, NoManifest } from '../../cli/manifests.ts';
import { flow } from '../../operator/kinds/flow.ts';
import { type Kind, type Secrets, secretName } from '../../operator/kinds/kind.ts';
import { realm as realmKind } from '../../operator/kinds/realm.ts';
import { webhook } from '../../operator/kinds/webhook.ts';
import { workloadIdentity } from '../../operator/kinds/workload-identity.ts';
import { freshClientScopes } from '../../server/contract/client-scopes.ts';
import { MAX_FLOW_DEPTH } from '../../server/contract/flows.ts';
import { RealmDocument } from '../../server/contract/transfer.ts';
import { realmDocument } from '../support/documents.ts';

// hundreds of documents, on a machine that may be busy
/** What operator/kinds make of the manifests, merged into one document; a Secret's value is the name of its object. */
function documentOf({ items, secrets }: ReturnType<typeof manifestsOf>): RealmDocument {
  const values: Secrets = new Map(secrets.map((secret) => [secretName(secret), `of ${secret.of}`]));
  const merged: RealmDocument = {};
  const read = <Spec extends { realm: string }>(kind: Kind<Spec>, { metadata: { name }, spec }: Manifest) =>
    kind.document(kind.spec.parse(spec), {
      metadata: { name, namespace: 'identity' },
      secrets: values,
      clusterIssuer: undefined,
    });
  for (const item of items) {
    const { realm, flows, webhooks, workloadIdentity: identities, ...rest } = ofKind(item, read);
    Object.assign(merged, rest);
    if (realm) merged.realm = { ...merged.realm, ...realm };
    if (flows) merged.flows = [...(merged.flows ?? []), ...flows];
    if (webhooks) merged.webhooks = [...(merged.webhooks ?? []), ...webhooks];
    if (identities) merged.workloadIdentity = [...(merged.workloadIdentity ?? []), ...identities];
  }
  return merged;
}

function ofKind(item: Manifest, read: <S extends { realm: string }>(kind: Kind<S>, item: Manifest) => RealmDocument) {
  if (item.kind === 'Realm') return read(realmKind, item);
  if (item.kind === 'Flow') return read(flow, item);
  return item.kind === 'Webhook' ? read(webhook, item) : read(workloadIdentity, item);
}

/** As it may come back: without users, what says nothing left out, secrets by what the Secrets of the test hold. */
function expected({ users: _, formatVersion: _f, requiredEnv: _r, ...document }: RealmDocument): RealmDocument {
  const kept = Object.entries(document).filter(([, value]) => Object.keys(value ?? {}).length > 0);
  const copy: RealmDocument = Object.fromEntries(kept);
  if (copy.realm) {
    const { realmId: _id, ...settings } = copy.realm;
    copy.realm = settings;
    if (Object.keys(settings).length === 0) delete copy.realm;
  }
  if (copy.clients)
    copy.clients = copy.clients.map((c) => (c.secret === undefined ? c : { ...c, secret: `of client ${c.clientId}` }));
  if (copy.webhooks)
    copy.webhooks = copy.webhooks.map((w) => (w.secret === undefined ? w : { ...w, secret: `of webhook ${w.name}` }));
  // what a workload may that nothing keeps from it
  if (copy.workloadIdentity)
    copy.workloadIdentity = copy.workloadIdentity.map(({ adminAccess, ...identity }) =>
      adminAccess === false ? { ...identity, adminAccess } : identity,
    );
  return copy;
}

test('manifests say all that the document says but users, and nothing else', () => {
  fc.assert(
    fc.property(realmDocument(), (generated) => {
      const document = RealmDocument.parse(generated);
      const manifests = manifestsOf('acme', document, { namespace: 'identity' });
      expect(documentOf(manifests)).toEqual(expected(document));
    }),
    { numRuns: 150 },
  );
});

test('what is written is what is read again, also by readers of YAML 1.1, and the same each time', () => {
  fc.assert(
    fc.property(realmDocument(), (document) => {
      const manifests = manifestsOf('acme', RealmDocument.parse(document));
      const text = yamlStream(manifests);
      expect(yamlStream(manifestsOf('acme', RealmDocument.parse(structuredClone(document))))).toBe(text);
      for (const version of ['1.1', '1.2'] as const) {
        const read = parseAllDocuments(text, { version }).map((d) => d.toJS());
        expect(read).toEqual(JSON.parse(JSON.stringify(manifests.items)));
      }
    }),
    { numRuns: 30 },
  );
});

test('a name of anything is one that Kubernetes takes, and no two are the same', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(fc.string({ minLength: 1, maxLength: 255, unit: 'grapheme' }), { maxLength: 30 }),
      (names) => {
        const made = names.map((name) => objectName('acme', 'webhook', name));
        for (const name of made)
          expect(name).toMatch(/^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/);
        expect(new Set(made).size).toBe(names.length);
      },
    ),
  );
});

test.each([
  ['browser-mfa', 'browser-mfa'],
  ['Browser MFA', expect.stringMatching(/^browser-mfa--[0-9a-f]{10}$/)],
  ['browser mfa', expect.stringMatching(/^browser-mfa--[0-9a-f]{10}$/)],
  ['Zürich', expect.stringMatching(/^zurich--[0-9a-f]{10}$/)],
  ['登录', expect.stringMatching(/^x--[0-9a-f]{10}$/)],
  ['a.b', expect.stringMatching(/^a-b--[0-9a-f]{10}$/)],
])('the name made of %s can be recognised', (name, made) => {
  expect(label(name)).toEqual(made);
});

test('a name that looks as if it had been made is not taken for the one that it looks like', () => {
  const made = label('Browser');
  expect(label(made)).not.toBe(made);
});

test('the browser flow is bound by the Flow itself, since a Realm that names a missing flow is refused', () => {
  const password = { authenticatorId: 'username-password', requirement: 'REQUIRED' } as const;
  const { items } = manifestsOf('acme', {
    realm: { requireMfa: true, browserFlow: 'Own flow' },
    flows: [
      { alias: 'Own flow', executions: [password] },
      { alias: 'browser', executions: [] },
    ],
  });
  expect(items.map(({ spec }) => spec)).toEqual([
    { realm: 'acme', settings: { requireMfa: true } },
    { realm: 'acme', alias: 'Own flow', executions: [password], bind: true },
    { realm: 'acme', alias: 'browser', executions: [] },
  ]);
});

test('no secret is written, be it a placeholder or a value; each is a Secret to create', () => {
  const manifests = manifestsOf('acme', {
    clients: [{ clientId: 'Billing', secret: `\${SVC_VAR_CLIENT_BILLING_SECRET}` }],
    webhooks: [{ name: 'audit', url: 'https://audit.example.com', eventTypes: '*', secret: 'a value in plain sight' }],
  });
  const text = yamlStream(manifests, 'identity') + secretTemplates(manifests.secrets);
  expect(text).not.toContain('SVC_VAR');
  expect(text).not.toContain('plain sight');
  expect(manifests.secrets).toEqual([
    {
      name: objectName('acme', 'client', 'Billing'),
      key: 'secret',
      of: 'client Billing',
      placeholder: 'SVC_VAR_CLIENT_BILLING_SECRET',
    },
    { name: 'acme.webhook.audit', key: 'secret', of: 'webhook audit', placeholder: undefined },
  ]);
  expect(text).toContain(
    'kubectl create secret generic acme.webhook.audit --namespace identity --from-file=secret=FILE',
  );
});

test('what a custom resource can’t say is refused with its place, all of it at once', () => {
  const clients = Array.from({ length: 1001 }, (_, n) => ({ clientId: `app-${n}` }));
  const webhooks = [{ name: 'no address' }];
  let faults: readonly string[] = [];
  try {
    manifestsOf('acme', { clients, webhooks });
  } catch (error) {
    if (!(error instanceof NoManifest)) throw error;
    faults = error.faults;
  }
  expect(faults).toEqual([
    expect.stringContaining('Realm acme, spec.clients: '),
    expect.stringContaining('spec.url: '),
    expect.stringContaining('spec.eventTypes: '),
  ]);
});

test('flows as deep as the server allows stay as deep', () => {
  const tree = (level: number): object =>
    level === MAX_FLOW_DEPTH
      ? { authenticatorId: 'otp', requirement: 'REQUIRED', config: { digits: 6 } }
      : { name: `level ${level}`, requirement: 'REQUIRED', executions: [tree(level + 1)] };
  const document = RealmDocument.parse({ flows: [{ alias: 'deep', executions: [tree(1)] }] });
  expect(documentOf(manifestsOf('acme', document))).toEqual(document);
});

test('who gives admin roles is told where that counts', () => {
  expect(manifestsOf('acme', { adminRoles: [{ name: 'helpdesk', permissions: [] }] }).notes.join()).toMatch(
    /admin roles/,
  );
  expect(manifestsOf('master', {}).notes.join()).toMatch(/operator's own namespace/);
  expect(manifestsOf('acme', {}).notes.join()).not.toMatch(/admin roles/);
});

test('what every new realm has and this one lacks is said, since no manifest can take it away', () => {
  const all = freshClientScopes.map((name) => ({ name }));
  expect(manifestsOf('acme', { clientScopes: all }).notes).toHaveLength(1);
  const notes = manifestsOf('acme', { clientScopes: all.filter(({ name }) => name !== 'phone') }).notes;
  expect(notes.join()).toMatch(/lacks; delete them there: phone\./);
  expect(manifestsOf('acme', {}).notes).toHaveLength(1);
});
