// Letting a workload get tokens without a secret: its platform's token is exchanged for one of the realm.
import type { Row } from '../../kinds/entry.ts';
import type { PageProps } from '../page.ts';
import { type Answers, type Ask, textOf, withoutEmpty } from './asks.tsx';
import { CreateWizard, type Variant, type WizardSpec } from './create-wizard.tsx';
import WorkloadEnd from './workload-end.tsx';

const acts = (name: string, audience: string): Ask[] => [
  { name: 'name', label: 'Name', help: 'Unique in the realm', fresh: name, mono: true },
  {
    name: 'clientId',
    label: 'Acts as the client',
    help: 'The workload has its roles, scopes and APIs. “Add an application” makes one: a service',
    is: 'reference',
    kind: 'client',
  },
  {
    name: 'audience',
    label: 'Audience',
    help: 'What the workload asks its platform’s token for',
    fresh: audience,
    mono: true,
  },
  {
    name: 'scopes',
    label: 'Scopes',
    help: 'Of the tokens that it gets, separated by spaces',
    optional: true,
    mono: true,
  },
  { name: 'adminAccess', label: 'May use the admin API', help: 'If its client has admin roles', is: 'toggle' },
];

const variant = (
  id: string,
  label: string,
  help: string,
  asks: readonly Ask[],
  of: { issuer: (answers: Answers) => string; subject: (answers: Answers) => string; audience?: string },
): Variant => ({
  id,
  label,
  help,
  section: 'workloadIdentity',
  steps: [
    { id: 'workload', title: 'Workload', asks },
    { id: 'access', title: 'Access', asks: acts(id, of.audience ?? 'realmkeeper') },
  ],
  body: (answers): Row => ({
    ...withoutEmpty({
      name: textOf(answers, 'name'),
      issuer: of.issuer(answers),
      subject: of.subject(answers),
      audience: textOf(answers, 'audience'),
      clientId: textOf(answers, 'clientId'),
      scopes: textOf(answers, 'scopes'),
    }),
    adminAccess: answers.adminAccess === true,
  }),
});

const isOf = (field: string, value: string) => (answers: Answers) => answers[field] === value;

export const workloadVariants: readonly Variant[] = [
  variant(
    'github-actions',
    'GitHub Actions',
    'A job of a repository',
    [
      { name: 'repository', label: 'Repository', at: 'subject', placeholder: 'acme/shop', mono: true },
      {
        name: 'when',
        label: 'Which jobs',
        is: 'choice',
        fresh: 'branch',
        options: [
          { id: 'branch', label: 'Of a branch' },
          { id: 'tag', label: 'Of a tag' },
          { id: 'environment', label: 'In an environment', help: 'Whose rules decide who may deploy' },
        ],
      },
      { name: 'branch', label: 'Branch', fresh: 'main', mono: true, when: isOf('when', 'branch') },
      {
        name: 'tag',
        label: 'Tag',
        help: 'Exactly; there are no wildcards',
        placeholder: 'v1.0.0',
        mono: true,
        when: isOf('when', 'tag'),
      },
      { name: 'environment', label: 'Environment', fresh: 'production', mono: true, when: isOf('when', 'environment') },
    ],
    {
      issuer: () => 'https://token.actions.githubusercontent.com',
      subject: (answers) => {
        const repository = textOf(answers, 'repository');
        if (repository === '') return '';
        if (answers.when === 'environment') return `repo:${repository}:environment:${textOf(answers, 'environment')}`;
        const ref =
          answers.when === 'tag' ? `refs/tags/${textOf(answers, 'tag')}` : `refs/heads/${textOf(answers, 'branch')}`;
        return `repo:${repository}:ref:${ref}`;
      },
    },
  ),
  variant(
    'kubernetes',
    'Kubernetes',
    'A pod, by its service account',
    [
      {
        name: 'issuer',
        label: 'Issuer of the cluster',
        help: '`kubectl get --raw /.well-known/openid-configuration` says it',
        placeholder: 'https://oidc.example.com/cluster',
        mono: true,
      },
      { name: 'namespace', label: 'Namespace', at: 'subject', fresh: 'default', mono: true },
      { name: 'account', label: 'Service account', at: 'subject', placeholder: 'shop', mono: true },
    ],
    {
      issuer: (answers) => textOf(answers, 'issuer'),
      subject: (answers) =>
        textOf(answers, 'account') === ''
          ? ''
          : `system:serviceaccount:${textOf(answers, 'namespace')}:${textOf(answers, 'account')}`,
    },
  ),
  variant(
    'aws',
    'AWS',
    'A pod in EKS, or a role by an outbound web identity token',
    [
      {
        name: 'issuer',
        label: 'Issuer',
        help: 'Of EKS: the cluster’s OpenID Connect provider URL. Of a role: the account’s, by `aws iam get-outbound-web-identity-federation-info`',
        placeholder: 'https://oidc.eks.eu-central-1.amazonaws.com/id/…',
        mono: true,
      },
      {
        name: 'subject',
        label: 'Subject',
        help: 'Of EKS: system:serviceaccount:NAMESPACE:NAME. Of a role: its ARN',
        placeholder: 'arn:aws:iam::123456789012:role/deploy',
        mono: true,
      },
    ],
    { issuer: (answers) => textOf(answers, 'issuer'), subject: (answers) => textOf(answers, 'subject') },
  ),
  variant(
    'google-cloud',
    'Google Cloud',
    'A service account of Compute Engine, Cloud Run or GKE',
    [
      {
        name: 'subject',
        label: 'Unique ID of the service account',
        help: '`gcloud iam service-accounts describe NAME --format="value(uniqueId)"` says it',
        placeholder: '104857600000000000000',
        mono: true,
      },
    ],
    { issuer: () => 'https://accounts.google.com', subject: (answers) => textOf(answers, 'subject') },
  ),
  variant(
    'other',
    'Another issuer',
    'GitLab, a cloud, another realm: any with discovery',
    [
      {
        name: 'issuer',
        label: 'Issuer',
        help: 'The exact `iss` of its tokens',
        placeholder: 'https://gitlab.com',
        mono: true,
      },
      {
        name: 'subject',
        label: 'Subject',
        help: 'The exact `sub`; there are no wildcards',
        placeholder: 'project_path:acme/shop:ref_type:branch:ref:main',
        mono: true,
      },
    ],
    { issuer: (answers) => textOf(answers, 'issuer'), subject: (answers) => textOf(answers, 'subject') },
  ),
];

const spec: WizardSpec = {
  name: 'workload',
  title: 'Trust a workload',
  lead: 'A pipeline, a pod or a machine gets tokens of the realm for those of its platform: no secret is stored anywhere.',
  choose: 'Platform',
  end: 'Use it',
  variants: workloadVariants,
  End: WorkloadEnd,
};

export default function TrustWorkload({ params: { realm } }: PageProps) {
  return <CreateWizard spec={spec} realm={realm} />;
}
