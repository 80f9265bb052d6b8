// Previewed tokens: for each claim its value and its origin; the token as JSON.
import { useState } from 'react';
import type { OutputOf } from '../../api/client.ts';
import type { previewToken } from '../../generated/routes.ts';
import { Badge, Chips } from '../../ui/badge.tsx';
import { Button } from '../../ui/button.tsx';
import { Code } from '../../ui/code.tsx';
import { Panel } from '../../ui/page.tsx';
import { Note } from '../../ui/state.tsx';
import { Table } from '../../ui/table.tsx';
import { Time } from '../../ui/time.tsx';

type TokenPreview = OutputOf<typeof previewToken>;
type PreviewedToken = TokenPreview['accessToken'];
type Origin = PreviewedToken['origins'][number];

export function TokensShown({ preview, stale }: { preview: TokenPreview; stale: boolean }) {
  const { grantedScopes, refused, consentNeeded, accessToken, idToken, userinfo } = preview;
  return (
    <div className={stale ? 'stack stale' : 'stack'}>
      {refused.length > 0 && (
        <Note tone="bad" live>
          <strong>The client would get no such tokens.</strong>
          <ul>
            {refused.map(({ code, message }) => (
              <li key={code}>{message}</li>
            ))}
          </ul>
        </Note>
      )}
      <p className="row">
        <span>Granted scopes:</span>
        <Chips items={grantedScopes} />
        {consentNeeded && <Badge tone="info">the user is asked to agree</Badge>}
      </p>
      <Token title="Access token" token={accessToken} />
      {idToken && <Token title="ID token" token={idToken} />}
      {userinfo && <Token title="Userinfo" token={userinfo} />}
    </div>
  );
}

const origins: Readonly<Record<Origin['from'], string>> = {
  server: 'server',
  mapper: 'mapper of the client',
  'client-scope': 'client scope',
};

const text = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** The value at a path such as `address.country`; a claim whose own name has dots comes first. */
function valueAt(claims: Readonly<Record<string, unknown>>, claim: string): unknown {
  if (claim in claims) return claims[claim];
  return claim.split('.').reduce<unknown>((value, part) => Object(value)[part], claims);
}

interface Line {
  claim: string;
  value: unknown;
  found: readonly Origin[];
}

/** Claims that are a time, in seconds. */
const TIMES: ReadonlySet<string> = new Set(['exp', 'iat', 'nbf', 'auth_time', 'updated_at']);
/** The badge beside it names the origin. */
const withoutOrigin = (message: string): string => {
  const words = message.replace(/^The [^:]*: /, '');
  return words.charAt(0).toUpperCase() + words.slice(1);
};

/** One line for each claim with an origin, then those claims of which the server names none. */
function linesOf({ claims, origins: all }: PreviewedToken): Line[] {
  const names = [...new Set(all.map(({ claim }) => claim))];
  const explained = new Set(names.map((name) => (name in claims ? name : name.split('.')[0])));
  return [
    ...names.map((claim) => ({
      claim,
      value: valueAt(claims, claim),
      found: all.filter((origin) => origin.claim === claim),
    })),
    ...Object.keys(claims)
      .filter((claim) => !explained.has(claim))
      .map((claim) => ({ claim, value: claims[claim], found: [] })),
  ];
}

function Token({ title, token }: { title: string; token: PreviewedToken }) {
  const [asJson, setAsJson] = useState(false);
  return (
    <Panel
      title={title}
      plain
      actions={
        <Button small onPress={() => setAsJson(!asJson)}>
          {asJson ? 'Show as a table' : 'Show as JSON'}
        </Button>
      }
    >
      {asJson ? (
        <div className="content">
          <Code text={JSON.stringify(token.claims, null, 2)} label={`the claims of the ${title}`} />
        </div>
      ) : (
        <Table
          label={`Claims of the ${title}`}
          rows={linesOf(token)}
          idOf={({ claim }) => claim}
          columns={[
            { id: 'claim', head: 'claim', cell: ({ claim }) => <code>{claim}</code> },
            {
              id: 'value',
              head: 'value',
              cell: ({ claim, value }) =>
                value === undefined ? (
                  <span className="none">absent</span>
                ) : (
                  <span className="stack tight">
                    <code className="claim-value">
                      <bdi>{text(value)}</bdi>
                    </code>
                    {TIMES.has(claim) && typeof value === 'number' && (
                      <span className="small soft">
                        <Time ms={value * 1000} full />
                      </span>
                    )}
                  </span>
                ),
            },
            {
              id: 'from',
              head: 'comes from',
              cell: ({ found }) => (
                <ul className="plain-list">
                  {found.map(({ from, scope, message, hidden }) => (
                    <li key={`${from} ${scope} ${message}`}>
                      <span className="row">
                        <Badge {...(from === 'server' ? {} : { tone: 'info' as const })}>
                          {origins[from]}
                          {scope !== null && ` ${scope}`}
                        </Badge>
                        {hidden && <Badge tone="warn">hidden from you</Badge>}
                      </span>
                      <span className="small soft">{withoutOrigin(message)}</span>
                    </li>
                  ))}
                </ul>
              ),
            },
          ]}
        />
      )}
    </Panel>
  );
}
