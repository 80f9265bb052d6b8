# An application in Python: Authlib's own way of signing people in, refreshing, and asking for them; a command line without a
# browser (RFC 8628); or a bank's application (FAPI 2.0). What it says is a line of JSON each; where somebody has to go first, it waits for a line that says where they came out.
import json
import os
import sys
import time
from urllib.parse import parse_qsl, urlparse

import requests
from authlib.common.security import generate_token
from authlib.common.urls import url_encode
from authlib.integrations.requests_client import OAuth2Session
from authlib.integrations.base_client.errors import OAuthError
from authlib.jose import JsonWebKey, jwt
from authlib.oauth2.rfc7523 import private_key_jwt_sign
from authlib.oauth2.rfc7636 import create_s256_code_challenge
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


def proof(key, method, address, nonce=None, token=None):
    """RFC 9449 §4.2"""
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": key.as_dict(is_private=False)}
    claims = {"htm": method, "htu": address, "iat": int(time.time()), "jti": generate_token(20)}
    if nonce is not None:
        claims["nonce"] = nonce
    if token is not None:
        claims["ath"] = create_s256_code_challenge(token)
    return jwt.encode(header, claims, key).decode()


def bank(issuer, client_id, client_key, redirect_uri):
    """FAPI 2.0: pushed, by private_key_jwt, bound to a key by DPoP, refreshed."""
    metadata = discover(issuer)
    own, key = json.loads(client_key), JsonWebKey.generate_key("EC", "P-256", is_private=True)
    nonce = None

    def post(endpoint, **form):
        nonlocal nonce
        for _ in range(2):
            form["client_assertion_type"] = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"
            form["client_assertion"] = private_key_jwt_sign(own, client_id, issuer, alg="ES256", expires_in=60)
            answer = requests.post(
                metadata[endpoint],
                data={"client_id": client_id, **form},
                headers={"DPoP": proof(key, "POST", metadata[endpoint], nonce)},
                timeout=30,
            )
            nonce = answer.headers.get("DPoP-Nonce", nonce)
            body = answer.json()
            if body.get("error") != "use_dpop_nonce":
                return body

    verifier, state, nonce_of_id = generate_token(48), generate_token(20), generate_token(20)
    pushed = post(
        "pushed_authorization_request_endpoint",
        response_type="code",
        redirect_uri=redirect_uri,
        scope="openid email",
        state=state,
        nonce=nonce_of_id,
        code_challenge=create_s256_code_challenge(verifier),
        code_challenge_method="S256",
    )
    query = url_encode([("client_id", client_id), ("request_uri", pushed["request_uri"])])
    say(open=f"{metadata['authorization_endpoint']}?{query}")
    landed = dict(parse_qsl(urlparse(sys.stdin.readline().strip()).query))
    assert landed["state"] == state and landed["iss"] == issuer
    token = post(
        "token_endpoint",
        grant_type="authorization_code",
        code=landed["code"],
        redirect_uri=redirect_uri,
        code_verifier=verifier,
    )
    claims = identity(token, metadata, client_id, nonce_of_id)

    def userinfo(scheme, with_proof):
        address = metadata["userinfo_endpoint"]
        headers = {"Authorization": f"{scheme} {token['access_token']}"}
        if with_proof:
            headers["DPoP"] = proof(key, "GET", address, nonce, token["access_token"])
        return requests.get(address, headers=headers, timeout=30)

    refreshed = post("token_endpoint", grant_type="refresh_token", refresh_token=token["refresh_token"])
    say(
        sub=claims["sub"],
        type=token["token_type"],
        email=userinfo("DPoP", True).json()["email"],
        stolen=userinfo("Bearer", False).status_code,
        rotated=refreshed.get("refresh_token", token["refresh_token"]) != token["refresh_token"],
        again=refreshed["token_type"],
    )


{"code": code, "device": device, "bank": bank}[sys.argv[1]](*sys.argv[2:])
