// SPDX-License-Identifier: MIT
// A provider of OpenID Connect, node-oidc-provider, for tests/clients/test_oidc_provider.py.
import { createServer } from 'node:http';
import { Provider } from 'oidc-provider';

const { APP, CLIENT_KEY, PORT, RESOURCE } = process.env;

const web = {
  redirect_uris: [`${APP}/auth/callback`],
  post_logout_redirect_uris: [`${APP}/auth/logged-out`],
  backchannel_logout_uri: `${APP}/auth/backchannel-logout`,
  backchannel_logout_session_required: true,
  grant_types: ['authorization_code', 'refresh_token'],
  response_types: ['code'],
};

const configuration = {
  clients: [
    {
      ...web,
      client_id: 'books:1',
      client_secret: 's3cret/with+signs',
      token_endpoint_auth_method: 'client_secret_basic',
    },
    {
      ...web,
      client_id: 'books-key',
      token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: 'ES256',
      jwks: { keys: [JSON.parse(CLIENT_KEY)] },
      redirect_uris: [`${APP}/key/callback`],
      backchannel_logout_uri: undefined,
      backchannel_logout_session_required: undefined,
    },
    {
      ...web,
      client_id: 'books-public',
      token_endpoint_auth_method: 'none',
      redirect_uris: [`${APP}/public/callback`],
      backchannel_logout_uri: undefined,
      backchannel_logout_session_required: undefined,
    },
    {
      client_id: 'machine',
      client_secret: 's3cret',
      redirect_uris: [],
      response_types: [],
      grant_types: ['client_credentials'],
    },
  ],
  claims: { openid: ['sub'], profile: ['name'], email: ['email', 'email_verified'], acr: null },
  cookies: { keys: ['only for tests'] },
  findAccount: (ctx, id) => ({
    accountId: id,
    claims: () => ({ sub: id, name: 'Ann', email: `${id}@example.com`, email_verified: true }),
  }),
  features: {
    backchannelLogout: { enabled: true },
    clientCredentials: { enabled: true },
    devInteractions: { enabled: true },
    resourceIndicators: {
      enabled: true,
      defaultResource: () => undefined,
      getResourceServerInfo: () => ({
        scope: 'books:read books:write',
        audience: RESOURCE,
        accessTokenFormat: 'jwt',
      }),
    },
  },
  // Its own refuses addresses of this machine.
  fetch: (url, { dispatcher, ...options }) => fetch(url, options),
  // Shorter than the margin of the app: each use refreshes.
  ttl: { AccessToken: 5 },
};

const provider = new Provider(`http://127.0.0.1:${PORT}`, configuration);
for (const event of ['server_error', 'backchannel.error', 'grant.error']) {
  provider.on(event, (ctx, error) => console.error(event, error));
}
createServer(provider.callback()).listen(Number(PORT), '127.0.0.1', () => console.log('ready'));
