"""Has each call that answers with content an example of an answer, and does each example fit what is described? With the packages of requirements.txt.

Aliases, HEAD, OPTIONS, pages and files have none, nor has a call that may answer without content: their status says it."""

import json
import sys
import xml.etree.ElementTree

import jsonschema
import referencing
import referencing.jsonschema

import description

# What is described where it is kept, and would only be repeated: the document itself, scripts, style sheets.
FILES = {"getDescription", "getWebSdk", "getAsset"}


def pointer(*names):
    return "urn:description#" + "".join("/" + name.replace("~", "~0").replace("/", "~1") for name in names)


def of_xml(document, schema, example):
    """What does not fit of an XML text: the root, or children that the schema does not know. A shared schema describes one object."""
    while "$ref" in schema:
        schema = document["components"]["schemas"][schema["$ref"].rsplit("/", 1)[1]]
    if schema.get("type") != "object":
        return
    root = xml.etree.ElementTree.fromstring(example)
    name = schema.get("xml", {}).get("name", root.tag)
    if root.tag != name:
        yield f"its root is {root.tag}, not {name}"
    for child in root:
        if child.tag not in schema["properties"]:
            yield f"the schema does not know its element {child.tag}"


def problems(document):
    """What is wrong, a line each."""
    registry = referencing.Registry().with_resource("urn:description", referencing.jsonschema.DRAFT202012.create_resource(document))
    known = description.operations(document)
    for operation in known.values():
        answers = list(operation.answers())
        with_example = [found for found in answers if "example" in found[2]]
        if operation.alias and (operation.alias not in known or known[operation.alias].alias):
            yield f"{operation.id} is an alias of {operation.alias}, which is no operation of its own"
        if operation.alias or operation.id in FILES:
            if any("$ref" not in operation.node["responses"][status] for status, *_ in with_example):
                yield f"{operation.id} is an alias or a file, and has an example"
            continue
        if answers and not operation.may_be_empty and not with_example:
            yield f"{operation.id} has no example of its answer: let Tests/Cluster/OpenApi/record call it"
        for status, media, described in with_example:
            where = f"{operation.id}: the example of {status}, {media}"
            if media.endswith("xml"):
                for problem in of_xml(document, described["schema"], described["example"]):
                    yield f"{where}: {problem}"
                continue
            schema = {"$ref": pointer(*operation.places(status), "content", media, "schema")}
            for error in jsonschema.Draft202012Validator(schema, registry=registry).iter_errors(described["example"]):
                yield f"{where}: at {error.json_path}: {error.message[:300]}"


def proves_itself(document):
    """Planted faults are found."""
    def planted(change):
        copy = json.loads(json.dumps(document))
        change(copy["paths"])
        return list(problems(copy))

    def without(paths):
        del paths["/o/client/register"]["post"]["responses"]["201"]["content"]["application/json"]["example"]

    def unfit(paths):
        paths["/o/client/register"]["post"]["responses"]["201"]["content"]["application/json"]["example"]["client_id"] = 7

    def foreign(paths):
        paths["/adobe-services/session"]["post"]["responses"]["200"]["content"]["application/xml"]["example"] = "<result><other/></result>"

    def nobodys(paths):
        paths["/api/v1/tokens/media"]["get"]["x-alias-of"] = "nothing"

    for change, word in ((without, "no example"), (unfit, "$.client_id"), (foreign, "element other"), (nobodys, "alias of nothing")):
        found = planted(change)
        assert len(found) == 1 and word in found[0], f"a planted fault gives {found}"


def main():
    document = json.loads(description.FILE.read_text())
    found = list(problems(document))
    print("".join(f"{problem}\n" for problem in found), end="", file=sys.stderr)
    if not found:
        proves_itself(document)
    return bool(found)


sys.exit(main())
