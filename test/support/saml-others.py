# A service provider by a library that others wrote: argv[1] is pysaml2 or python3-saml, standard input the task. Each answers the same.
import base64
import json
import os
import sys
import tempfile
from urllib.parse import urlparse

ALGORITHM = "http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"
DIGEST = "http://www.w3.org/2001/04/xmlenc#sha256"


def with_pysaml2(task):
    from saml2 import BINDING_HTTP_POST, BINDING_HTTP_REDIRECT
    from saml2.client import Saml2Client
    from saml2.config import SPConfig
    from saml2.saml import NameID
    from saml2.sigver import RSACrypto, verify_redirect_signature

    folder = tempfile.mkdtemp()
    files = {name: os.path.join(folder, name) for name in ("sp.key", "sp.crt", "idp.xml")}
    for name, content in (("sp.key", task["key"]), ("sp.crt", task["certificate"]), ("idp.xml", task["metadata"])):
        with open(files[name], "w") as file:
            file.write(content)
    own = {"key_file": files["sp.key"], "cert_file": files["sp.crt"]}
    config = SPConfig().load(
        {
            "entityid": task["entityId"],
            "xmlsec_binary": "/usr/bin/xmlsec1",
            "metadata": {"local": [files["idp.xml"]]},
            "key_file": files["sp.key"],
            "cert_file": files["sp.crt"],
            "encryption_keypairs": [own],
            "allow_unknown_attributes": True,
            "service": {
                "sp": {
                    "endpoints": {
                        "assertion_consumer_service": [(task["acs"], BINDING_HTTP_POST)],
                        "single_logout_service": [(task["slo"], BINDING_HTTP_REDIRECT)],
                    },
                    "authn_requests_signed": True,
                    "logout_requests_signed": True,
                    "want_response_signed": True,
                    "want_assertions_signed": True,
                    "allow_unsolicited": False,
                    "signing_algorithm": ALGORITHM,
                    "digest_algorithm": DIGEST,
                }
            },
        }
    )
    client = Saml2Client(config)
    (idp,) = client.metadata.with_descriptor("idpsso").keys()
    do = task["do"]
    if do == "request":
        binding = BINDING_HTTP_POST if task.get("post") else BINDING_HTTP_REDIRECT
        number, info = client.prepare_for_authenticate(
            entityid=idp, relay_state="state", binding=binding, sign=True, sigalg=ALGORITHM, digest_alg=DIGEST
        )
        if task.get("post"):
            return {"id": number, "form": info["data"]}
        return {"id": number, "url": dict(info["headers"])["Location"]}
    if do == "answer":
        response = client.parse_authn_request_response(
            task["response"], BINDING_HTTP_POST, outstanding={task["id"]: "/"}
        )
        name = response.get_subject()
        return {
            "name": name.text,
            "format": name.format,
            "attributes": response.ava,
            "index": response.session_info()["session_index"],
        }
    location = client.metadata.single_logout_service(idp, BINDING_HTTP_REDIRECT, "idpsso")[0]
    if do == "logout":
        number, request = client.create_logout_request(
            location["location"],
            idp,
            name_id=NameID(text=task["name"], format=task["format"]),
            session_indexes=[task["index"]],
            sign=False,
        )
        info = client.apply_binding(
            BINDING_HTTP_REDIRECT, str(request), location["location"], "state", sign=True, sigalg=ALGORITHM
        )
        return {"id": number, "url": dict(info["headers"])["Location"]}
    query = task["query"]
    if do == "logged out":
        response = client.parse_logout_request_response(query["SAMLResponse"], BINDING_HTTP_REDIRECT)
        return {"status": response.status_ok(), "inResponseTo": response.in_response_to}
    # This release leaves a redirect's signature to whoever calls it.
    certificate = client.metadata.certs(idp, "idpsso", "signing")[0]
    if not verify_redirect_signature(query, RSACrypto(None), certificate):
        return {"errors": ["signature"]}
    request = client.parse_logout_request(query["SAMLRequest"], BINDING_HTTP_REDIRECT)
    answer = client.create_logout_response(request.message, [BINDING_HTTP_REDIRECT])
    info = client.apply_binding(
        BINDING_HTTP_REDIRECT,
        str(answer),
        location.get("response_location") or location["location"],
        query.get("RelayState", ""),
        response=True,
        sign=True,
        sigalg=ALGORITHM,
    )
    return {"name": request.message.name_id.text, "url": dict(info["headers"])["Location"]}


def with_python3_saml(task):
    from onelogin.saml2.auth import OneLogin_Saml2_Auth
    from onelogin.saml2.idp_metadata_parser import OneLogin_Saml2_IdPMetadataParser

    settings = OneLogin_Saml2_IdPMetadataParser.parse(task["metadata"])
    settings.update(
        {
            "strict": True,
            "debug": True,
            "sp": {
                "entityId": task["entityId"],
                "assertionConsumerService": {
                    "url": task["acs"],
                    "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST",
                },
                "singleLogoutService": {
                    "url": task["slo"],
                    "binding": "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect",
                },
                "NameIDFormat": "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
                "x509cert": task["certificate"],
                "privateKey": task["key"],
            },
            "security": {
                "authnRequestsSigned": True,
                "logoutRequestSigned": True,
                "logoutResponseSigned": True,
                "wantMessagesSigned": True,
                "wantAssertionsSigned": True,
                "wantAssertionsEncrypted": task.get("encrypted", False),
                "wantNameId": True,
                "wantAttributeStatement": False,
                "requestedAuthnContext": False,
                "rejectDeprecatedAlgorithm": True,
                "signatureAlgorithm": ALGORITHM,
                "digestAlgorithm": DIGEST,
            },
        }
    )
    at = urlparse(task["slo"] if task["do"] in ("logged out", "told") else task["acs"])
    query = task.get("query", {})
    auth = OneLogin_Saml2_Auth(
        {
            "https": "on",
            "http_host": at.netloc,
            "script_name": at.path,
            "get_data": query,
            "post_data": {"SAMLResponse": task["response"]} if "response" in task else {},
            "query_string": task.get("queryString", ""),
            "validate_signature_from_qs": True,
        },
        settings,
    )
    do = task["do"]
    if do == "request":
        url = auth.login(return_to="state")
        return {"id": auth.get_last_request_id(), "url": url}
    if do == "answer":
        auth.process_response(request_id=task["id"])
    elif do == "logout":
        url = auth.logout(
            name_id=task["name"], session_index=task["index"], name_id_format=task["format"], return_to="state"
        )
        return {"id": auth.get_last_request_id(), "url": url}
    elif do == "logged out":
        auth.process_slo(request_id=task["id"])
    else:
        url = auth.process_slo(keep_local_session=True)
    if auth.get_errors():
        return {"errors": auth.get_errors(), "reason": auth.get_last_error_reason()}
    if do == "answer":
        return {
            "name": auth.get_nameid(),
            "format": auth.get_nameid_format(),
            "attributes": auth.get_attributes(),
            "index": auth.get_session_index(),
        }
    if do == "logged out":
        return {"status": True, "inResponseTo": task["id"]}
    from onelogin.saml2.logout_request import OneLogin_Saml2_Logout_Request

    xml = auth.get_last_request_xml()
    return {"name": OneLogin_Saml2_Logout_Request.get_nameid(xml, key=task["key"]), "url": url}


libraries = {"pysaml2": with_pysaml2, "python3-saml": with_python3_saml}
print(json.dumps(libraries[sys.argv[1]](json.load(sys.stdin))))
