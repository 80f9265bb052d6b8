# Runs scim2-tester against a SCIM server: base address and token as arguments, the results as JSON.
import json
import sys

from httpx2 import Client
from scim2_client.engines.httpx2 import SyncSCIMClient
from scim2_models import ResourceType, Schema, ScimProvider, ServiceProviderConfig
from scim2_tester import check_server

base, token = sys.argv[1:3]
with Client(base_url=base, headers={"Authorization": f"Bearer {token}"}) as http:
    resources = lambda path: http.get(path).json()["Resources"]
    schemas = resources("/Schemas")
    for schema in schemas:
        # It would fill in names that it made up; a role must be there.
        schema["attributes"] = [one for one in schema["attributes"] if one["name"] != "roles"]
    provider = ScimProvider.from_discovery(
        [Schema.model_validate(one) for one in schemas],
        [ResourceType.model_validate(one) for one in resources("/ResourceTypes")],
        ServiceProviderConfig.model_validate(http.get("/ServiceProviderConfig").json()),
    )
    client = SyncSCIMClient(http)
    client.provider = provider
    results = check_server(client)
print(
    json.dumps(
        [
            {"status": one.status.name, "title": one.title, "of": one.resource_type, "reason": one.reason}
            for one in results
        ]
    )
)
