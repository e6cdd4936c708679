"""Lets the property-based client ask for real things most of the time, and checks what it does not check by itself."""

import json
import os
import xml.etree.ElementTree

import schemathesis
from schemathesis.specs.openapi.checks import unsupported_method

with open(os.environ["BOXOFFICE_FACTS"]) as file:
    facts = json.load(file)
values = facts["values"]

# What these operations use up is not what the others need.
SPENDING = {("delete", "/api/v1/logout"), ("get", "/api/v1/logout"), ("delete", "/reggie/v1/{requestor}/regcode/{code}")}


# Where 503 is an answer by rule: no SAML message (rest-v1 section 3.8).
UNAVAILABLE_BY_RULE = {"/sp/saml/SAMLAssertionConsumer", "/sp/saml/LogoutServiceHTTPRedirectResponse"}


METHODS = {"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE"}


def mixed(name, schema, given=None):
    """The parameter's own schema, or twice as often one of the real values."""
    real = given or values.get(name)
    return {"anyOf": [{"enum": real}, {"enum": real}, schema]} if real else schema


def enrich(parameter, given=None):
    name = parameter["name"]
    real = given or values.get(name)
    if real and parameter["schema"].get("type") != "array":
        parameter["schema"] = mixed(name, parameter["schema"], real)
        parameter["example"] = real[0]


@schemathesis.hook
def before_load_schema(context, raw_schema):
    # Which listener serves a path is said by `--url`.
    for item in raw_schema["paths"].values():
        item.pop("servers", None)
    # Examples of answers are ids and codes of another cluster: as parameters they would only be refused.
    without_examples(raw_schema["components"]["responses"])
    for item in raw_schema["paths"].values():
        for operation in item.values():
            without_examples(operation["responses"] if isinstance(operation, dict) else {})
    components = raw_schema["components"]
    plain = json.loads(json.dumps(components["parameters"]))
    for parameter in components["parameters"].values():
        enrich(parameter)
    # Nearly every call without it ends with the same 400.
    components["parameters"]["DeviceInfo"]["required"] = True
    for path, name in forms(raw_schema):
        given = facts["own"].get(path, {})
        properties = components["schemas"][name]["properties"]
        components["schemas"][name]["properties"] = {field: mixed(field, schema, given.get(field)) for field, schema in properties.items()}
    statement = components["schemas"]["ClientRegistration"]["properties"]
    statement["software_statement"] = mixed("", statement["software_statement"], [facts["statement"]])
    for path, item in raw_schema["paths"].items():
        for method, operation in item.items():
            inline(plain, path, method, operation)


def without_examples(answers):
    for answer in answers.values():
        for media in answer.get("content", {}).values():
            media.pop("example", None)


def forms(raw_schema):
    """Paths that take forms, with the names of the forms' schemas."""
    for path, item in raw_schema["paths"].items():
        for operation in item.values():
            form = operation.get("requestBody", {}).get("content", {}).get("application/x-www-form-urlencoded", {})
            if "$ref" in form.get("schema", {}):
                yield path, form["schema"]["$ref"].rsplit("/", 1)[1]


def inline(plain, path, method, operation):
    """Gives each operation parameters of its own where it needs others than the rest."""
    spends = (method, path) in SPENDING
    for index, parameter in enumerate(operation.get("parameters", [])):
        own = "$ref" not in parameter
        if not own:
            parameter = json.loads(json.dumps(plain[parameter["$ref"].rsplit("/", 1)[1]]))
        given = facts["spent"].get(parameter["name"]) if spends or parameter["name"] == "client" else facts["own"].get(path, {}).get(parameter["name"])
        if parameter["name"] == "id" and path.startswith("/admin/v1/"):
            given = [facts["entries"][path.split("/")[3]]]
        if own or given:
            enrich(parameter, given)
            operation["parameters"][index] = parameter
    for media in operation.get("requestBody", {}).get("content", {}).values():
        example = media.get("example")
        if isinstance(example, dict):
            real = facts["examples"] if path.startswith("/admin/") else {key: real[0] for key, real in {**values, **facts["own"].get(path, {})}.items()}
            media["example"] = {key: real.get(key, value) for key, value in example.items()}


def media_type(response):
    return (response.headers.get("content-type") or [""])[0].split(";")[0]


@schemathesis.check
def methods_are_told_apart(context, response, case):
    """A method that a route lacks is 405, one that nobody knows 501 (RFC 9110 sections 15.5.6 and 15.6.2)."""
    if case.method.upper() in METHODS:
        return unsupported_method(context, response, case)
    assert response.status_code == 501, f"{case.method} is {response.status_code}"


@schemathesis.check
def no_server_error(context, response, case):
    """Nothing that is asked is a fault of the service."""
    if response.status_code >= 500 and not (response.status_code == 501 and case.method.upper() not in METHODS):
        by_rule = response.status_code == 503 and case.operation.path in UNAVAILABLE_BY_RULE and "retry-after" in response.headers
        assert by_rule, f"status {response.status_code}"


@schemathesis.check
def xml_is_well_formed(context, response, case):
    """XML has the root that the description names, and children that its schema knows."""
    if media_type(response) != "application/xml" or not response.content:
        return
    root = xml.etree.ElementTree.fromstring(response.content)
    assert response.content.startswith(b'<?xml version="1.0" encoding="UTF-8" standalone="yes"?>'), "no XML declaration"
    name = root.tag.rsplit("}", 1)[-1]
    known = {"error", "config", "regcode", "authentication", "authorization", "play", "resources", "usermetadata", "result", "resource"}
    assert name in known, f"unknown root {name}"
    if response.status_code >= 400:
        assert name == "error", f"status {response.status_code} with root {name}"
        assert {"status", "message"} <= {child.tag for child in root}, "an error needs status and message"


@schemathesis.check
def replies_are_never_stored(context, response, case):
    """Everything but public documents is `no-store`, and nothing lets a browser guess types."""
    assert (response.headers.get("x-content-type-options") or [""])[0] == "nosniff", "no X-Content-Type-Options"
    public = case.operation.path.startswith(("/assets", "/entitlement/v4/", "/openapi.json", "/sp/metadata", "/.well-known", "/healthz", "/readyz"))
    if public or response.status_code in (204, 405) or not response.content:
        return
    assert "no-store" in (response.headers.get("cache-control") or [""])[0], "no Cache-Control: no-store"


@schemathesis.check
def faults_are_not_told(context, response, case):
    """Nothing of the inside comes out."""
    for word in (b"Fatal error", b".swift", b"sqlite", b"SQLite", b"Optional("):
        assert word not in response.content, f"the reply holds {word!r}"
