// Code for common frameworks, with the application's own settings in it. Secrets are read from the environment.
import type { Row } from '../../kinds/entry.ts';

export interface Sample {
  id: string;
  label: string;
  /** The command that installs its libraries. */
  install?: string;
  code: string;
}
export interface SampleInput {
  issuer: string;
  clientId: string;
  redirectUri: string;
  resource: string;
}

export const listIn = (row: Row, field: string): string[] => {
  const value = row[field];
  return Array.isArray(value) ? value.map(String) : [];
};
export const inputOf = (row: Row, issuer: string): SampleInput => ({
  issuer,
  clientId: String(row.clientId ?? ''),
  redirectUri: listIn(row, 'redirectUris')[0] ?? 'https://app.example.com/callback',
  resource: listIn(row, 'allowedResources')[0] ?? 'https://api.example.com',
});

/** As one word of a shell. */
const word = (text: string): string => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);
/** As a text of JavaScript, and of most others. */
const quoted = (text: string): string => JSON.stringify(text);
const pathOf = (uri: string): string => URL.parse(uri)?.pathname ?? '/callback';
const originOf = (uri: string): string => {
  const origin = URL.parse(uri)?.origin;
  return origin === undefined || origin === 'null' ? uri : origin;
};

const web = ({ issuer, clientId, redirectUri }: SampleInput): Sample[] => [
  {
    id: 'express',
    label: 'Express',
    install: 'npm install express express-openid-connect',
    code: `import express from 'express';
import { auth, requiresAuth } from 'express-openid-connect';

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
app.listen(3000);`,
  },
  {
    id: 'next',
    label: 'Next.js',
    install: 'npm install next-auth@beta',
    code: `// auth.ts; the redirect URI is https://…/api/auth/callback/realmkeeper
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
    code: `import os
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
    code: `AuthorizationServiceConfiguration.fetchFromIssuer(Uri.parse(${quoted(issuer)})) { configuration, _ ->
  val request = AuthorizationRequest.Builder(
    configuration!!, ${quoted(clientId)}, ResponseTypeValues.CODE, Uri.parse(${quoted(redirectUri)}),
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
    ${quoted(clientId)},
    ${quoted(redirectUri)},
    issuer: ${quoted(issuer)},
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
  -d grant_type=client_credentials --data-urlencode ${word(`resource=${resource}`)}`,
  },
  {
    id: 'node',
    label: 'Node.js',
    install: 'npm install openid-client',
    code: `import * as oidc from 'openid-client';

const secret = oidc.ClientSecretBasic(process.env.CLIENT_SECRET);
const config = await oidc.discovery(new URL(${quoted(issuer)}), ${quoted(clientId)}, {}, secret);
const { access_token: token } = await oidc.clientCredentialsGrant(config, { resource: ${quoted(resource)} });
const answer = await oidc.fetchProtectedResource(config, token, new URL(${quoted(resource)}), 'GET');
console.log(answer.status);`,
  },
  {
    id: 'python',
    label: 'Python',
    install: 'pip install authlib requests',
    code: `import os
from authlib.integrations.requests_client import OAuth2Session

session = OAuth2Session(${quoted(clientId)}, os.environ["CLIENT_SECRET"])
session.fetch_token(${quoted(`${issuer}/oauth2/token`)}, grant_type="client_credentials", resource=${quoted(resource)})
print(session.get(${quoted(resource)}).status_code)`,
  },
  {
    id: 'go',
    label: 'Go',
    install: 'go get golang.org/x/oauth2',
    code: `config := clientcredentials.Config{
	ClientID:       ${quoted(clientId)},
	ClientSecret:   os.Getenv("CLIENT_SECRET"),
	TokenURL:       ${quoted(`${issuer}/oauth2/token`)},
	EndpointParams: url.Values{"resource": {${quoted(resource)}}},
}
client := config.Client(context.Background())`,
  },
];

const mcp = ({ clientId, redirectUri, resource }: SampleInput): Sample[] => [
  {
    id: 'sdk',
    label: 'TypeScript SDK',
    install: 'npm install @modelcontextprotocol/sdk',
    code: `import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';

// of OAuthClientProvider, what this client decides; tokens and verifiers are kept as you like
const authProvider = {
  redirectUrl: ${quoted(redirectUri)},
  clientMetadata: { redirect_uris: [${quoted(redirectUri)}], token_endpoint_auth_method: 'none' },
  clientInformation: () => ({ client_id: ${quoted(clientId)} }),
  ...storage,
};
const transport = new StreamableHTTPClientTransport(new URL(${quoted(resource)}), { authProvider });
await new Client({ name: ${quoted(clientId)}, version: '1.0.0' }).connect(transport);`,
  },
];

const byVariant: Readonly<Record<string, (input: SampleInput) => Sample[]>> = { web, spa, native, service, mcp };
/** @param variant as application-variants.ts names it */
export const samplesFor = (variant: string, input: SampleInput): Sample[] => byVariant[variant]?.(input) ?? [];
