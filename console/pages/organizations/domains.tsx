// The domains of an organization: the DNS record that proves each, and a check of it now.
import { Fragment } from 'react';
import { useWrite } from '../../api/queries.ts';
import { verifyDomain } from '../../generated/routes.ts';
import { requestCommands } from '../../kinds/commands.ts';
import { inRealm } from '../../shell/addresses.ts';
import { AsCommand } from '../../ui/as-command.tsx';
import { Badge } from '../../ui/badge.tsx';
import { Button, ButtonLink } from '../../ui/button.tsx';
import { CopyButton } from '../../ui/code.tsx';
import { Facts, Panel } from '../../ui/page.tsx';
import { Empty, Note, ProblemNote } from '../../ui/state.tsx';
import { say } from '../../ui/toast.tsx';

export interface OrganizationDomain {
  name: string;
  verified: boolean;
}

export function Domains({
  realm,
  id,
  domains,
  isWriter,
}: {
  realm: string;
  id: string;
  domains: readonly OrganizationDomain[];
  isWriter: boolean;
}) {
  const edit = isWriter && (
    <ButtonLink to={`${inRealm(realm, 'organizations', id)}/edit`} icon="edit">
      Edit the domains
    </ButtonLink>
  );
  if (domains.length === 0)
    return (
      <div className="panel">
        <Empty icon="org" title="It has no domains" actions={edit}>
          <p>With a verified domain, users with an e-mail address in it sign in with the organization’s provider.</p>
        </Empty>
      </div>
    );
  return (
    <div className="stack">
      <div className="row end">{edit}</div>
      {domains.map((domain) => (
        <Domain key={domain.name} realm={realm} id={id} domain={domain} isWriter={isWriter} />
      ))}
    </div>
  );
}

function Domain({
  realm,
  id,
  domain: { name, verified },
  isWriter,
}: {
  realm: string;
  id: string;
  domain: OrganizationDomain;
  isWriter: boolean;
}) {
  const verify = useWrite(verifyDomain);
  const answer = verify.data?.body;
  const isVerified = answer?.verified ?? verified;
  const params = { realm, id, domain: name };
  return (
    <Panel
      title={name}
      actions={
        <>
          <Badge tone={isVerified ? 'good' : 'warn'}>{isVerified ? 'verified' : 'not verified'}</Badge>
          {isWriter && (
            <Fragment>
              <AsCommand quiet commands={() => requestCommands(verifyDomain, params)} />
              <Button
                isDisabled={verify.isPending}
                onPress={() =>
                  verify.mutate({ params }, { onSuccess: ({ body }) => body?.verified && say(`${name} is verified.`) })
                }
              >
                {verify.isPending ? 'Asking the DNS…' : isVerified ? 'Verify again' : 'Verify now'}
              </Button>
            </Fragment>
          )}
        </>
      }
    >
      <div className="stack" aria-live="polite">
        {verify.error && <ProblemNote problem={verify.error} />}
        {!answer && !isVerified && (
          <p className="soft">
            The domain counts once its DNS holds a record of this server.{' '}
            {isWriter ? '“Verify now” looks it up, and says which record that is.' : ''}
          </p>
        )}
        {!answer && isVerified && (
          <p className="soft">Users with an address in this domain belong to the organization.</p>
        )}
        {answer?.problem && <Note tone="warn">{answer.problem}</Note>}
        {answer && (
          <Facts
            facts={[
              { name: 'Record', value: <code>{answer.record.type}</code> },
              { name: 'Name', value: <Copied text={answer.record.name} label="the record’s name" /> },
              { name: 'Value', value: <Copied text={answer.record.value} label="the record’s value" /> },
            ]}
          />
        )}
      </div>
    </Panel>
  );
}

function Copied({ text, label }: { text: string; label: string }) {
  return (
    <span className="row">
      <code>{text}</code>
      <CopyButton text={text} label={`Copy ${label}`} />
    </span>
  );
}
