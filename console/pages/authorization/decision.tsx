// A decision with its reasons: each permission about the resource, and the policies that it asked.
import type { OutputOf } from '../../api/client.ts';
import type { evaluateAuthorization } from '../../generated/routes.ts';
import { Badge } from '../../ui/badge.tsx';
import { Note } from '../../ui/state.tsx';

type Result = OutputOf<typeof evaluateAuthorization>['results'][number];

const DecisionBadge = ({ decision }: { decision: 'permit' | 'deny' }) => (
  <Badge tone={decision === 'permit' ? 'good' : 'bad'}>{decision === 'permit' ? 'permits' : 'denies'}</Badge>
);

export function Decision({ result }: { result: Result }) {
  const { resource, decision, reason, grantedScopes, scopes, permissions } = result;
  return (
    <div className="stack tight">
      <Note tone={decision === 'permit' ? 'good' : 'bad'}>
        <strong>
          {decision === 'permit' ? 'Permitted' : 'Denied'}: <bdi>{resource}</bdi>
        </strong>
        <span dir="auto">{reason}</span>
        {scopes.length > 0 && (
          <span className="small">
            Granted: {grantedScopes.length === 0 ? 'none' : grantedScopes.join(', ')} of {scopes.join(', ')}
          </span>
        )}
      </Note>
      {permissions.length > 0 && (
        <ul className="decision">
          {permissions.map((permission) => (
            <li key={permission.name}>
              <span className="row">
                <DecisionBadge decision={permission.decision} />
                <bdi>{permission.name}</bdi>
                <span className="soft small">permission, {permission.decisionStrategy}</span>
              </span>
              <span className="soft small" dir="auto">
                {permission.reason}
              </span>
              {permission.policies.length > 0 && (
                <ul>
                  {permission.policies.map((policy) => (
                    <li key={policy.name}>
                      <span className="row">
                        <DecisionBadge decision={policy.decision} />
                        <bdi>{policy.name}</bdi>
                        <span className="soft small">
                          {policy.type}
                          {policy.logic === 'negative' && ', reversed'}
                        </span>
                      </span>
                      <span className="soft small" dir="auto">
                        {policy.reason}
                      </span>
                    </li>
                  ))}
                </ul>
              )}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
