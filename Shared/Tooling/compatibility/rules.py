"""The compatibility rules of the contracts: what a change since the last release must not do. REPLACING.md explains each rule by its name."""

from typing import NamedTuple


class Break(NamedTuple):
    rule: str
    place: str
    text: str


def breaks(old, new, places):
    """Every breaking change between the released facts and those of now, with the place now where it shows."""
    found = []
    found += package_breaks(old, new, places)
    for name, message in old["messages"].items():
        if name not in new["messages"]:
            found.append(Break("message-removed", nearest(name, places), f"the message {name} is gone"))
        else:
            found += message_breaks(name, message, new["messages"][name], places)
    for name, enum in old["enums"].items():
        if name not in new["enums"]:
            found.append(Break("enum-removed", nearest(name, places), f"the enum {name} is gone"))
        else:
            found += enum_breaks(name, enum, new["enums"][name], places)
    for name, methods in old["services"].items():
        if name not in new["services"]:
            found.append(Break("service-removed", nearest(name, places), f"the service {name} is gone"))
        else:
            found += service_breaks(name, methods, new["services"][name], places)
    return found


def nearest(name, places):
    """The place of the declaration, or of the innermost one around it that is still there."""
    while name:
        if name in places:
            return places[name]
        name = name.rpartition(".")[0]
    return "(the contracts)"


def package_breaks(old, new, places):
    for file, package in old["packages"].items():
        if file not in new["packages"]:
            yield Break("file-removed", file, f"the file {file} of the package {package} is gone")
        elif new["packages"][file] != package:
            yield Break("package-changed", places[file], f"the package of {file} was {package} and is {new['packages'][file]}")


def message_breaks(name, old, new, places):
    new_numbers = {field["name"]: number for number, field in new["fields"].items()}
    for number, field in old["fields"].items():
        now = new["fields"].get(number)
        place = nearest(f"{name}.{field['name']}", places)
        what = f"{name}.{field['name']} = {number}"
        if field["name"] in new_numbers and new_numbers[field["name"]] != number:
            yield Break("field-renumbered", place, f"{what} has the number {new_numbers[field['name']]} now")
        elif now is None:
            yield Break("field-removed", place, f"{what} is gone")
        elif now["name"] != field["name"] or now["json"] != field["json"]:
            yield Break("field-renamed", nearest(f"{name}.{now['name']}", places), f"{what} is called {now['name']} ({now['json']} in JSON) now")
        else:
            for rule, key in [("field-retyped", "type"), ("field-label", "label"), ("field-oneof", "oneof")]:
                if now[key] != field[key]:
                    yield Break(rule, place, f"{what}: {key} was '{field[key]}' and is '{now[key]}'")
    added = {number: field["name"] for number, field in new["fields"].items() if number not in old["fields"]}
    yield from reserved_breaks(name, old, new, {added[number]: int(number) for number in added}, places)


def enum_breaks(name, old, new, places):
    numbers = set(new["values"].values())
    for value, number in old["values"].items():
        place, what = nearest(f"{name}.{value}", places), f"{name}.{value} = {number}"
        if value in new["values"]:
            if new["values"][value] != number:
                yield Break("enum-value-renumbered", place, f"{what} has the number {new['values'][value]} now")
        elif number in numbers:
            yield Break("enum-value-renamed", place, f"{what} has another name now")
        else:
            yield Break("enum-value-removed", place, f"{what} is gone")
    added = {value: number for value, number in new["values"].items() if value not in old["values"]}
    yield from reserved_breaks(name, old, new, added, places)


def reserved_breaks(name, old, new, added, places):
    """What was reserved stays reserved, and unused."""
    for start, end in old["reserved"]:
        for declared, number in added.items():
            if start <= number <= end:
                yield Break("number-reused", nearest(f"{name}.{declared}", places), f"{name}.{declared} uses the reserved number {number}")
        if not any(first <= start and end <= last for first, last in new["reserved"]):
            yield Break("reserved-dropped", places[name], f"{name} no longer reserves {start if start == end else f'{start} to {end}'}")
    for reserved in old["reservedNames"]:
        if reserved in added:
            yield Break("name-reused", nearest(f"{name}.{reserved}", places), f"{name}.{reserved} uses a reserved name")
        if reserved not in new["reservedNames"]:
            yield Break("reserved-dropped", places[name], f"{name} no longer reserves the name {reserved}")


def service_breaks(name, old, new, places):
    for method, facts in old.items():
        place, what = nearest(f"{name}.{method}", places), f"{name}.{method}"
        if method not in new:
            yield Break("method-removed", place, f"{what} is gone")
            continue
        for rule, key in [
            ("method-retyped", "request"), ("method-retyped", "response"), ("method-streaming", "streams"), ("method-idempotency", "idempotency"),
        ]:
            if new[method][key] != facts[key]:
                yield Break(rule, place, f"{what}: {key} was '{facts[key]}' and is '{new[method][key]}'")
