// A Realm and the Flow that its clients name come up on an empty server, in whatever order they are read.
import { expect, test } from 'vitest';
import { getFlow } from '../../server/contract/flows.ts';
import { getRealm } from '../../server/contract/realms.ts';
import { eventually, operatorSite, resource } from '../support/operator.ts';

const site = operatorSite({ name: 'flows-first' });
const web = { clientId: 'web', tokenEndpointAuthMethod: 'none', redirectUris: ['https://web.example.com/'] };
const theRealm = (more: object) => resource('Realm', 'here', { realm: site.realm, ...more });
const theFlow = () =>
  resource('Flow', 'short', {
    realm: site.realm,
    executions: [{ authenticatorId: 'username-password', requirement: 'REQUIRED' }],
  });
const realmAt = () => site.server.admin.call(getRealm, { params: { realm: site.realm } });

test('a client may name a Flow that attaches to the realm which is still to be made', async () => {
  await site.folder.write('all.yaml', theRealm({ clients: [{ ...web, flowOverride: 'short' }] }), theFlow());
  const operator = await site.begin();
  await operator.ready('Realm', 'here');
  await operator.ready('Flow', 'short');
});

test('while the flow is missing the Realm waits and says for which; its coming is enough', async () => {
  await site.folder.write('realm.yaml', theRealm({ settings: { browserFlow: 'short' } }));
  const operator = await site.begin();
  expect((await operator.says('Realm', 'here', 'FlowMissing')).message).toContain('there is no flow short');
  await site.folder.write('flow.yaml', theFlow());
  await operator.ready('Realm', 'here');
  const flow = await site.server.admin.call(getFlow, { params: { realm: site.realm, alias: 'short' } });
  expect(flow.body?.executions).toHaveLength(1);
});

test('a Realm that is refused for anything else makes no realm', async () => {
  const clients = [{ ...web, flowOverride: 'short', defaultClientScopes: ['unknown'] }];
  await site.folder.write('realm.yaml', theRealm({ clients }));
  const operator = await site.begin();
  await eventually(() =>
    expect(operator.condition('Realm', 'here')).toMatchObject({ status: 'False', reason: 'Refused' }),
  );
  await expect(realmAt()).rejects.toMatchObject({ status: 404 });
});

test('a WorkloadIdentity that was refused for want of its client is tried again as soon as the Realm has it', async () => {
  await site.folder.write('realm.yaml', theRealm({}));
  await site.folder.write(
    'identity.yaml',
    resource('WorkloadIdentity', 'deployer', {
      realm: site.realm,
      issuer: 'https://ci.example.com',
      subject: 'main',
      audience: 'here',
      clientId: 'web',
    }),
  );
  const operator = await site.begin();
  await eventually(() =>
    expect(operator.condition('WorkloadIdentity', 'deployer')).toMatchObject({ status: 'False', reason: 'Refused' }),
  );
  await site.folder.write('realm.yaml', theRealm({ clients: [web] }));
  await operator.ready('WorkloadIdentity', 'deployer');
});
