// Code for common frameworks, with the application's own settings in it. Secrets are read from the environment.
import type { Row } from '../../kinds/entry.ts';
import { word } from '../../kinds/shell-words.ts';

export interface Sample {
  id: string;
  label: string;
  /** The command that installs its libraries. */
  install?: string;
  code: string;
  /** The command that runs it, where the code is a whole program. */
  run?: string;
}
export interface SampleInput {
  issuer: string;
  clientId: string;
  redirectUri: string;
  /** The API that tokens are for; undefined: the client names none. */
  resource: string | undefined;
}

export const listIn = (row: Row, field: string): string[] => {
  const value = row[field];
  return Array.isArray(value) ? value.map(String) : [];
};
export const inputOf = (row: Row, issuer: string): SampleInput => ({
  issuer,
  clientId: String(row.clientId ?? ''),
  redirectUri: listIn(row, 'redirectUris')[0] ?? 'https://app.example.com/callback',
  resource: listIn(row, 'allowedResources')[0],
});

/** As a text of JavaScript, and of most others. */
const quoted = (text: string): string => JSON.stringify(text);
/** As a text of Kotlin and Dart, where a dollar sign begins an expression. */
const undollared = (text: string): string => quoted(text).replaceAll('$', '\\$');
const pathOf = (uri: string): string => URL.parse(uri)?.pathname ?? '/callback';
/** Where a program on this machine listens to be found at the redirect URI. */
const portOf = (uri: string): string => {
  const { protocol, hostname, port } = URL.parse(uri) ?? {};
  return protocol === 'http:' && /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname ?? '') ? port || '80' : '3000';
};
const isPlain = (issuer: string): boolean => issuer.startsWith('http:');
const WITH_SECRET = "CLIENT_SECRET='the secret above'";
const WITH_SECRETS = `${WITH_SECRET} COOKIE_SECRET=$(openssl rand -hex 32)`;
const originOf = (uri: string): string => URL.parse(uri)?.origin.replace(/^null$/, uri) ?? uri;

const web = ({ issuer, clientId, redirectUri }: SampleInput): Sample[] => [
  {
    id: 'express',
    label: 'Express',
    install: 'npm install express express-openid-connect',
    run: `${WITH_SECRETS} node app.mjs`,
    code: `// app.mjs
import express from 'express';
import openid from 'express-openid-connect';

const { auth, requiresAuth } = openid;
const app = express();
app.use(
  auth({
    issuerBaseURL: ${quoted(issuer)},
    baseURL: ${quoted(originOf(redirectUri))},
    clientID: ${quoted(clientId)},
    clientSecret: process.env.CLIENT_SECRET,
    secret: process.env.COOKIE_SECRET, // at least 32 random characters
    authRequired: false,
    clientAuthMethod: 'client_secret_basic',
    authorizationParams: { response_type: 'code', scope: 'openid profile email' },
    routes: { callback: ${quoted(pathOf(redirectUri))} },
  }),
);
app.get('/me', requiresAuth(), (request, response) => response.json(request.oidc.user));
app.listen(${portOf(redirectUri)}); // then open ${originOf(redirectUri)}/me`,
  },
  {
    id: 'next',
    label: 'Next.js',
    install: 'npm install next-auth@beta',
    run: `AUTH_SECRET=$(openssl rand -hex 32) ${WITH_SECRET} npx next dev --port ${portOf(redirectUri)}`,
    code: `// auth.ts. One of the client's redirect URIs must be ${originOf(redirectUri)}/api/auth/callback/realmkeeper.
// app/api/auth/[...nextauth]/route.ts: import { handlers } from '@/auth'; export const { GET, POST } = handlers;
import NextAuth from 'next-auth';

export const { handlers, auth, signIn, signOut } = NextAuth({
  providers: [
    {
      id: 'realmkeeper',
      name: 'Realmkeeper',
      type: 'oidc',
      issuer: ${quoted(issuer)},
      clientId: ${quoted(clientId)},
      clientSecret: process.env.CLIENT_SECRET,
      checks: ['pkce', 'state', 'nonce'],
    },
  ],
});`,
  },
  {
    id: 'spring',
    label: 'Spring Boot',
    install: 'implementation "org.springframework.boot:spring-boot-starter-oauth2-client"',
    code: `# application.yaml
spring:
  security:
    oauth2:
      client:
        registration:
          realmkeeper:
            client-id: ${quoted(clientId)}
            client-secret: \${CLIENT_SECRET}
            authorization-grant-type: authorization_code
            redirect-uri: ${quoted(redirectUri)}
            scope: [openid, profile, email]
            # PKCE, which the realm asks for: OAuth2AuthorizationRequestCustomizers.withPkce()
        provider:
          realmkeeper:
            issuer-uri: ${quoted(issuer)}`,
  },
  {
    id: 'dotnet',
    label: 'ASP.NET Core',
    install: 'dotnet add package Microsoft.AspNetCore.Authentication.OpenIdConnect',
    code: `builder.Services
    .AddAuthentication(options =>
    {
        options.DefaultScheme = CookieAuthenticationDefaults.AuthenticationScheme;
        options.DefaultChallengeScheme = OpenIdConnectDefaults.AuthenticationScheme;
    })
    .AddCookie()
    .AddOpenIdConnect(options =>
    {
        options.Authority = ${quoted(issuer)};
        options.ClientId = ${quoted(clientId)};
        options.ClientSecret = Environment.GetEnvironmentVariable("CLIENT_SECRET");
        options.CallbackPath = ${quoted(pathOf(redirectUri))};
        options.ResponseType = "code";
        options.UsePkce = true;
        options.Scope.Add("email");
        options.MapInboundClaims = false;
    });`,
  },
  {
    id: 'python',
    label: 'Python (Flask)',
    install: 'pip install authlib flask requests',
    run: `${WITH_SECRETS} flask --app app run --port ${portOf(redirectUri)}`,
    code: `# app.py
import os
from authlib.integrations.flask_client import OAuth
from flask import Flask, redirect, session

app = Flask(__name__)
app.secret_key = os.environ["COOKIE_SECRET"]
oauth = OAuth(app)
oauth.register(
    "realmkeeper",
    server_metadata_url=${quoted(`${issuer}/.well-known/openid-configuration`)},
    client_id=${quoted(clientId)},
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid profile email", "code_challenge_method": "S256"},
)

@app.get("/")
def home():
    return session.get("user") or redirect("/login")

@app.get("/login")
def login():
    return oauth.realmkeeper.authorize_redirect(${quoted(redirectUri)})

@app.get(${quoted(pathOf(redirectUri))})
def callback():
    session["user"] = oauth.realmkeeper.authorize_access_token()["userinfo"]
    return redirect("/")`,
  },
];

const spa = ({ issuer, clientId, redirectUri }: SampleInput): Sample[] => [
  {
    id: 'react',
    label: 'React',
    install: 'npm install oidc-client-ts react-oidc-context',
    code: `import { AuthProvider, useAuth } from 'react-oidc-context';

const settings = {
  authority: ${quoted(issuer)},
  client_id: ${quoted(clientId)},
  redirect_uri: ${quoted(redirectUri)},
  scope: 'openid profile email',
  onSigninCallback: () => history.replaceState(null, '', '/'),
};

function Hello() {
  const { isAuthenticated, user, signinRedirect } = useAuth();
  return isAuthenticated ? <p>Hello {user?.profile.name}</p> : <button onClick={() => void signinRedirect()}>Sign in</button>;
}

export const App = () => (
  <AuthProvider {...settings}>
    <Hello />
  </AuthProvider>
);`,
  },
  {
    id: 'angular',
    label: 'Angular',
    install: 'npm install angular-auth-oidc-client',
    code: `import { provideAuth } from 'angular-auth-oidc-client';

export const appConfig = {
  providers: [
    provideAuth({
      config: {
        authority: ${quoted(issuer)},
        clientId: ${quoted(clientId)},
        redirectUrl: ${quoted(redirectUri)},
        scope: 'openid profile email',
        responseType: 'code',
      },
    }),
  ],
};`,
  },
  {
    id: 'javascript',
    label: 'JavaScript',
    install: 'npm install oidc-client-ts',
    code: `import { UserManager } from 'oidc-client-ts';

const people = new UserManager({
  authority: ${quoted(issuer)},
  client_id: ${quoted(clientId)},
  redirect_uri: ${quoted(redirectUri)},
  scope: 'openid profile email',
});

if (location.pathname === ${quoted(pathOf(redirectUri))}) {
  const user = await people.signinCallback();
  console.log('signed in as', user?.profile.sub);
} else await people.signinRedirect();`,
  },
];

const native = ({ issuer, clientId, redirectUri }: SampleInput): Sample[] => [
  {
    id: 'swift',
    label: 'iOS (AppAuth)',
    install: '.package(url: "https://github.com/openid/AppAuth-iOS.git", from: "2.0.0")',
    code: `OIDAuthorizationService.discoverConfiguration(forIssuer: URL(string: ${quoted(issuer)})!) { configuration, error in
  guard let configuration else { return }
  let request = OIDAuthorizationRequest(
    configuration: configuration,
    clientId: ${quoted(clientId)},
    scopes: [OIDScopeOpenID, OIDScopeProfile, "offline_access"],
    redirectURL: URL(string: ${quoted(redirectUri)})!,
    responseType: OIDResponseTypeCode,
    additionalParameters: nil
  )
  self.flow = OIDAuthState.authState(byPresenting: request, presenting: self) { state, error in
    self.state = state // keep it in the keychain
  }
}`,
  },
  {
    id: 'kotlin',
    label: 'Android (AppAuth)',
    install: 'implementation("net.openid:appauth:0.11.1")',
    code: `AuthorizationServiceConfiguration.fetchFromIssuer(Uri.parse(${undollared(issuer)})) { configuration, _ ->
  val request = AuthorizationRequest.Builder(
    configuration!!, ${undollared(clientId)}, ResponseTypeValues.CODE, Uri.parse(${undollared(redirectUri)}),
  ).setScopes("openid", "profile", "offline_access").build()
  startActivityForResult(AuthorizationService(this).getAuthorizationRequestIntent(request), SIGN_IN)
}`,
  },
  {
    id: 'flutter',
    label: 'Flutter',
    install: 'flutter pub add flutter_appauth',
    code: `final tokens = await const FlutterAppAuth().authorizeAndExchangeCode(
  AuthorizationTokenRequest(
    ${undollared(clientId)},
    ${undollared(redirectUri)},
    issuer: ${undollared(issuer)},
    scopes: ['openid', 'profile', 'offline_access'],
  ),
);`,
  },
];

const service = ({ issuer, clientId, resource }: SampleInput): Sample[] => [
  {
    id: 'curl',
    label: 'curl',
    code: `curl -u ${word(clientId)}:"$CLIENT_SECRET" ${word(`${issuer}/oauth2/token`)} \\
  -d grant_type=client_credentials${resource === undefined ? '' : ` --data-urlencode ${word(`resource=${resource}`)}`}`,
  },
  {
    id: 'node',
    label: 'Node.js',
    install: 'npm install openid-client',
    run: `${WITH_SECRET} node service.mjs`,
    code: `// service.mjs
import * as oidc from 'openid-client';

const secret = oidc.ClientSecretBasic(process.env.CLIENT_SECRET);
${isPlain(issuer) ? 'const options = { execute: [oidc.allowInsecureRequests] }; // http, on this machine alone\n' : ''}const config = await oidc.discovery(new URL(${quoted(issuer)}), ${quoted(clientId)}, {}, secret${isPlain(issuer) ? ', options' : ''});
const { access_token: token, expires_in: seconds } = await oidc.clientCredentialsGrant(config${resource === undefined ? '' : `, { resource: ${quoted(resource)} }`});
console.log(\`A token for \${seconds} seconds: \${token}\`);${
      resource === undefined
        ? ''
        : `
const answer = await oidc.fetchProtectedResource(config, token, new URL(${quoted(resource)}), 'GET');
console.log(answer.status);`
    }`,
  },
  {
    id: 'python',
    label: 'Python',
    install: 'pip install authlib requests',
    run: `${WITH_SECRET} python3 service.py`,
    code: `# service.py
import os
from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(${quoted(clientId)}, os.environ["CLIENT_SECRET"])
token = session.fetch_token(${quoted(`${issuer}/oauth2/token`)}, grant_type="client_credentials"${resource === undefined ? '' : `, resource=${quoted(resource)}`})
print("A token for", token["expires_in"], "seconds")${resource === undefined ? '' : `\nprint(session.get(${quoted(resource)}).status_code)`}`,
  },
  {
    id: 'go',
    label: 'Go',
    install: 'go get golang.org/x/oauth2',
    code: `config := clientcredentials.Config{
	ClientID:       ${quoted(clientId)},
	ClientSecret:   os.Getenv("CLIENT_SECRET"),
	TokenURL:       ${quoted(`${issuer}/oauth2/token`)},${
    resource === undefined ? '' : `\n	EndpointParams: url.Values{"resource": {${quoted(resource)}}},`
  }
}
client := config.Client(context.Background())`,
  },
];

/** Stands where the address of an MCP server belongs. */
const MCP_SERVER = 'https://mcp.example.com/mcp';
const mcp = ({ clientId, redirectUri, resource = MCP_SERVER }: SampleInput): Sample[] => [
  {
    id: 'sdk',
    label: 'TypeScript SDK',
    install: 'npm install @modelcontextprotocol/sdk',
    run: 'node client.mjs',
    code: `// client.mjs
import { createServer } from 'node:http';
import { UnauthorizedError } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

const kept = {}; // in memory: a program that people start again keeps it in their keychain
const authProvider = {
  redirectUrl: ${quoted(redirectUri)},
  clientMetadata: { redirect_uris: [${quoted(redirectUri)}], token_endpoint_auth_method: 'none' },
  clientInformation: () => ({ client_id: ${quoted(clientId)} }),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  redirectToAuthorization: (url) => console.log(\`Open \${url}\`),
};
const codeAtRedirect = () =>
  new Promise((found) => {
    const server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url, ${quoted(originOf(redirectUri))});
      if (pathname !== ${quoted(pathOf(redirectUri))}) return void response.writeHead(404).end();
      response.end('You can close this window.');
      server.close();
      found(searchParams.get('code'));
    }).listen(${portOf(redirectUri)}, '127.0.0.1');
  });

const client = new Client({ name: ${quoted(clientId)}, version: '1.0.0' });
const transport = () => new StreamableHTTPClientTransport(new URL(${quoted(resource)}), { authProvider });
const first = transport();
try {
  await client.connect(first);
} catch (error) {
  if (!(error instanceof UnauthorizedError)) throw error;
  await first.finishAuth(await codeAtRedirect());
  await client.connect(transport());
}
console.log(await client.listTools());
await client.close();`,
  },
];

const byVariant: Readonly<Record<string, (input: SampleInput) => Sample[]>> = { web, spa, native, service, mcp };
/** @param variant as application-variants.ts names it */
export const samplesFor = (variant: string, input: SampleInput): Sample[] => byVariant[variant]?.(input) ?? [];
