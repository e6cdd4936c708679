"""How protobuf names become Swift and C names."""

import re

ACRONYMS = {"id": "ID", "ids": "IDs", "url": "URL", "uri": "URI", "ip": "IP"}
UNITS = {"s": "Seconds", "ms": "Milliseconds", "us": "Microseconds"}
SWIFT_KEYWORDS = {"protocol", "default", "in", "is", "as", "case", "class", "internal", "public", "operator", "extension", "import", "self"}


def quoted(name):
    return f"`{name}`" if name in SWIFT_KEYWORDS else name


def property_name(field):
    """snake_case to lowerCamelCase; a unit suffix is spelled out, an acronym stays one."""
    words = field.split("_")
    if len(words) > 1 and words[-1] in UNITS:
        words[-1] = UNITS[words[-1]]
    tail = [ACRONYMS.get(word, word[:1].upper() + word[1:]) for word in words[1:]]
    return words[0] + "".join(tail)


def case_name(enum, value):
    """SCREAMING_CASE without the enum's own name to lowerCamelCase."""
    prefix = re.sub(r"(?<=[a-z0-9])([A-Z])", r"_\1", enum).upper() + "_"
    words = value.removeprefix(prefix).lower().split("_")
    return words[0] + "".join(word.capitalize() for word in words[1:])


def method_name(name):
    return name[0].lower() + name[1:]


def c_type(package, name):
    """The struct or enum name that protoc-c makes: each part capitalised, joined by two underscores."""
    parts = package.split(".") + [name]
    return "__".join(part[:1].upper() + part[1:] for part in parts)


def accessor(package, name):
    return (package + "." + name).replace(".", "_") + "_descriptor"
