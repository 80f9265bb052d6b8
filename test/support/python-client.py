# An application in Python: Authlib's own way of signing people in, refreshing, and asking for them; or a command line without a
# browser (RFC 8628). What it says is a line of JSON each; where somebody has to go first, it waits for a line that says where they came out.
import json
import os
import sys
import time

import requests
from authlib.common.security import generate_token
from authlib.integrations.requests_client import OAuth2Session
from authlib.integrations.base_client.errors import OAuthError
from authlib.jose import JsonWebKey, jwt
from authlib.oidc.core import CodeIDToken

# Authlib asks for https; the tests' server speaks http on this machine alone.
os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
DEVICE = "urn:ietf:params:oauth:grant-type:device_code"
EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
ACCESS_TOKEN = "urn:ietf:params:oauth:token-type:access_token"


def say(**words):
    print(json.dumps(words), flush=True)


def discover(issuer):
    metadata = requests.get(f"{issuer}/.well-known/openid-configuration", timeout=30).json()
    assert metadata["issuer"] == issuer
    return metadata


def identity(token, metadata, client_id, nonce=None):
    keys = JsonWebKey.import_key_set(requests.get(metadata["jwks_uri"], timeout=30).json())
    options = {
        "iss": {"essential": True, "value": metadata["issuer"]},
        "aud": {"essential": True, "value": client_id},
    }
    claims = jwt.decode(
        token["id_token"],
        keys,
        claims_cls=CodeIDToken,
        claims_options=options,
        claims_params={"nonce": nonce, "client_id": client_id, "access_token": token["access_token"]},
    )
    claims.validate(leeway=60)
    return claims


def code(issuer, client_id, secret, redirect_uri):
    metadata = discover(issuer)
    session = OAuth2Session(
        client_id,
        secret,
        scope="openid email offline_access",
        redirect_uri=redirect_uri,
        code_challenge_method="S256",
        token_endpoint=metadata["token_endpoint"],
    )
    verifier, nonce = generate_token(48), generate_token(20)
    url, state = session.create_authorization_url(
        metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
    )
    say(open=url)
    landed = sys.stdin.readline().strip()
    token = session.fetch_token(authorization_response=landed, state=state, code_verifier=verifier)
    claims = identity(token, metadata, client_id, nonce)
    userinfo = session.get(metadata["userinfo_endpoint"]).json()
    refreshed = dict(session.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"]))
    exchanged = session.fetch_token(
        metadata["token_endpoint"],
        grant_type=EXCHANGE,
        subject_token=refreshed["access_token"],
        subject_token_type=ACCESS_TOKEN,
        scope="email",
    )
    session.revoke_token(metadata["revocation_endpoint"], refreshed["refresh_token"], "refresh_token")
    try:
        session.refresh_token(metadata["token_endpoint"], refresh_token=refreshed["refresh_token"])
        after = None
    except OAuthError as error:
        after = error.error
    say(
        sub=claims["sub"],
        userinfo=userinfo,
        changed=refreshed["refresh_token"] != token["refresh_token"],
        exchanged=exchanged["issued_token_type"],
        revoked=after,
    )


def device(issuer, client_id):
    metadata = discover(issuer)
    session = OAuth2Session(client_id, token_endpoint_auth_method="none", scope="openid email")
    asked = requests.post(
        metadata["device_authorization_endpoint"], data={"client_id": client_id, "scope": "openid email"}, timeout=30
    ).json()
    say(open=asked["verification_uri"], code=asked["user_code"], complete=asked["verification_uri_complete"])
    interval, answers, until = asked["interval"], [], time.time() + asked["expires_in"]
    while time.time() < until:
        try:
            token = session.fetch_token(
                metadata["token_endpoint"], grant_type=DEVICE, device_code=asked["device_code"]
            )
            claims = identity(token, metadata, client_id)
            userinfo = session.get(metadata["userinfo_endpoint"]).json()
            return say(sub=claims["sub"], userinfo=userinfo, answers=answers)
        except OAuthError as error:
            if error.error not in answers:
                answers.append(error.error)
                say(waits=error.error)
            if error.error == "slow_down":
                interval += 5
            elif error.error != "authorization_pending":
                return say(answers=answers)
        time.sleep(interval)


{"code": code, "device": device}[sys.argv[1]](*sys.argv[2:])
