"""What of the contracts others rely on, taken from a descriptor set: numbers, names, types, labels, methods. Comments are no part of it."""

from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorSet, MethodOptions

MESSAGE, ENUM, SERVICE = 4, 5, 6  # field numbers of FileDescriptorProto; nested declarations follow in the path


def facts(serialized):
    """The facts of a FileDescriptorSet, and the place of each declaration as `file:line` by its full name."""
    found = {"packages": {}, "messages": {}, "enums": {}, "services": {}}
    places = {}
    for file in FileDescriptorSet.FromString(serialized).file:
        lines = {tuple(place.path): place.span[0] + 1 for place in file.source_code_info.location}
        found["packages"][file.name] = file.package
        places[file.name] = file.name
        places[file.package] = f"{places[file.package]} or {file.name}" if file.package in places else file.name

        def place(name, path):
            places[name] = f"{file.name}:{lines.get(tuple(path), 1)}"

        for index, message in enumerate(file.message_type):
            add_message(found, place, file.package, message, (MESSAGE, index))
        for index, enum in enumerate(file.enum_type):
            add_enum(found, place, file.package, enum, (ENUM, index))
        for index, service in enumerate(file.service):
            name = f"{file.package}.{service.name}"
            place(name, (SERVICE, index))
            found["services"][name] = {method.name: method_facts(method) for method in service.method}
            for number, method in enumerate(service.method):
                place(f"{name}.{method.name}", (SERVICE, index, 2, number))
    return found, places


def add_message(found, place, scope, message, path):
    name = f"{scope}.{message.name}"
    place(name, path)
    found["messages"][name] = {
        "fields": {str(field.number): field_facts(message, field) for field in sorted(message.field, key=lambda field: field.number)},
        "reserved": sorted([span.start, span.end - 1] for span in message.reserved_range), "reservedNames": sorted(message.reserved_name),
    }
    for index, field in enumerate(message.field):
        place(f"{name}.{field.name}", (*path, 2, index))
    for index, nested in enumerate(message.nested_type):
        add_message(found, place, name, nested, (*path, 3, index))
    for index, enum in enumerate(message.enum_type):
        add_enum(found, place, name, enum, (*path, 4, index))


def add_enum(found, place, scope, enum, path):
    name = f"{scope}.{enum.name}"
    place(name, path)
    found["enums"][name] = {
        "values": {value.name: value.number for value in sorted(enum.value, key=lambda value: value.number)},
        "reserved": sorted([span.start, span.end] for span in enum.reserved_range), "reservedNames": sorted(enum.reserved_name),
    }
    for index, value in enumerate(enum.value):
        place(f"{name}.{value.name}", (*path, 2, index))


def field_facts(message, field):
    label = "repeated" if field.label == FieldDescriptorProto.LABEL_REPEATED else "optional" if field.proto3_optional else "singular"
    is_member = field.HasField("oneof_index") and not field.proto3_optional
    return {
        "name": field.name, "json": field.json_name, "label": label,
        "type": field.type_name.lstrip(".") or FieldDescriptorProto.Type.Name(field.type).removeprefix("TYPE_").lower(),
        "oneof": message.oneof_decl[field.oneof_index].name if is_member else "",
    }


def method_facts(method):
    return {
        "request": method.input_type.lstrip("."), "response": method.output_type.lstrip("."),
        "streams": {(False, False): "no", (False, True): "response", (True, False): "request", (True, True): "both"}[
            method.client_streaming, method.server_streaming],
        "idempotency": MethodOptions.IdempotencyLevel.Name(method.options.idempotency_level),
    }
