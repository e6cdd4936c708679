"""Swift value types of messages and enums, with their conversions to and from the structs of protoc-c."""

from google.protobuf.descriptor_pb2 import FieldDescriptorProto as Field

from names import accessor, c_type, case_name, property_name, quoted

SCALARS = {
    Field.TYPE_UINT32: "UInt32", Field.TYPE_UINT64: "UInt64", Field.TYPE_INT32: "Int32", Field.TYPE_INT64: "Int64",
    Field.TYPE_DOUBLE: "Double", Field.TYPE_FIXED64: "UInt64", Field.TYPE_FIXED32: "UInt32",
}


class FieldShape:
    """What the templates need to know of one field."""

    def __init__(self, message, field):
        self.c_name = field.name
        self.name = quoted(property_name(field.name))
        self.number = field.number
        self.path = f"{message}.{field.name}"
        self.repeated = field.label == Field.LABEL_REPEATED
        self.kind = field.type
        self.oneof = field.oneof_index if field.HasField("oneof_index") else None
        type_parts = field.type_name.lstrip(".").rsplit(".", 1)
        self.package, self.type_name = type_parts if len(type_parts) == 2 else ("", "")

    @property
    def element(self):
        if self.kind == Field.TYPE_STRING:
            return "String"
        if self.kind == Field.TYPE_BYTES:
            return "[UInt8]"
        if self.kind == Field.TYPE_BOOL:
            return "Bool"
        return SCALARS.get(self.kind) or self.type_name

    @property
    def c_type(self):
        return c_type(self.package, self.type_name)

    @property
    def swift_type(self):
        if self.repeated:
            return f"[{self.element}]"
        return self.element + "?" if self.kind == Field.TYPE_MESSAGE else self.element

    @property
    def default(self):
        if self.repeated or self.kind == Field.TYPE_BYTES:
            return "[]"
        return {Field.TYPE_STRING: '""', Field.TYPE_BOOL: "false", Field.TYPE_MESSAGE: "nil",
                Field.TYPE_ENUM: f"{self.element}(rawValue: 0)"}.get(self.kind, "0")

    def decoded(self):
        """The expression that reads the field of `c`."""
        c = f"c.pointee.{self.c_name}"
        if self.repeated:
            count = f"c.pointee.n_{self.c_name}"
            return {
                Field.TYPE_STRING: f'try CField.strings({c}, {count}, "{self.path}")',
                Field.TYPE_BYTES: f"CField.byteArrays({c}, {count})",
                Field.TYPE_MESSAGE: f"try CField.messages({c}, {count})",
                Field.TYPE_ENUM: f"CField.scalars({c}, {count}).map {{ {self.element}(rawValue: Int32(bitPattern: $0.rawValue)) }}",
            }.get(self.kind, f"CField.scalars({c}, {count})")
        return {
            Field.TYPE_STRING: f'try CField.string({c}, "{self.path}")',
            Field.TYPE_BYTES: f"CField.bytes({c})",
            Field.TYPE_BOOL: f"{c} != 0",
            Field.TYPE_MESSAGE: f"try CField.message({c})",
            Field.TYPE_ENUM: f"{self.element}(rawValue: Int32(bitPattern: {c}.rawValue))",
        }.get(self.kind, c)

    def encoded(self, value):
        """The statements that fill the field of `c` with a Swift value."""
        c = f"c.pointee.{self.c_name}"
        if self.repeated:
            expression = {
                Field.TYPE_STRING: f'try arena.strings({value}, "{self.path}")',
                Field.TYPE_BYTES: f"try arena.byteArrays({value})",
                Field.TYPE_MESSAGE: f"try arena.messages({value}, as: {self.c_type}.self)",
                Field.TYPE_ENUM: f"try arena.scalars({value}.map {{ {self.c_type}(rawValue: UInt32(bitPattern: $0.rawValue)) }})",
            }.get(self.kind, f"try arena.scalars({value})")
            return [f"{c} = {expression}", f"c.pointee.n_{self.c_name} = {value}.count"]
        expression = {
            Field.TYPE_STRING: f'try arena.string({value}, "{self.path}")',
            Field.TYPE_BYTES: f"try arena.bytes({value})",
            Field.TYPE_BOOL: f"{value} ? 1 : 0",
            Field.TYPE_MESSAGE: f"try arena.message({value}, as: {self.c_type}.self)",
            Field.TYPE_ENUM: f"{self.c_type}(rawValue: UInt32(bitPattern: {value}.rawValue))",
        }.get(self.kind, value)
        if self.kind == Field.TYPE_STRING and self.oneof is None:
            return [f"if !{value}.isEmpty {{ {c} = {expression} }}"]
        return [f"{c} = {expression}"]


def enum_source(enum, comments, path):
    cases = [(quoted(case_name(enum.name, value.name)), value.number) for value in enum.value]
    lines = comments.lines(path, "")
    lines.append(f"public enum {enum.name}: Hashable, Sendable {{")
    for index, (name, _) in enumerate(cases):
        lines += comments.lines(path + (2, index), "    ")
        lines.append(f"    case {name}")
    lines += ["    /// A value that this build does not know.", "    case unrecognized(Int32)", "",
              "    public init(rawValue: Int32) {", "        switch rawValue {"]
    lines += [f"        case {number}: self = .{name}" for name, number in cases]
    lines += ["        default: self = .unrecognized(rawValue)", "        }", "    }", "",
              "    /// The number on the wire.", "    public var rawValue: Int32 {", "        switch self {"]
    lines += [f"        case .{name}: {number}" for name, number in cases]
    lines += ["        case .unrecognized(let value): value", "        }", "    }", "}", ""]
    return lines


def message_source(package, message, comments, path, c_prefix):
    full = f"{package}.{message.name}"
    shapes = [FieldShape(full, field) for field in message.field]
    plain = [(index, shape) for index, shape in enumerate(shapes) if shape.oneof is None]
    oneofs = [(oneof.name, [(index, shape) for index, shape in enumerate(shapes) if shape.oneof == number])
              for number, oneof in enumerate(message.oneof_decl)]
    members = [(shape.name, shape.swift_type, shape.default, comments.lines(path + (2, index), "    ")) for index, shape in plain]
    members += [(property_name(name), oneof_type(name) + "?", "nil", comments.lines(path + (8, number), "    "))
                for number, (name, _) in enumerate(oneofs)]
    lines = comments.lines(path, "")
    lines.append(f"public struct {message.name}: Message {{")
    for name, shapes_of in oneofs:
        lines.append(f"    public enum {oneof_type(name)}: Hashable, Sendable {{")
        for index, shape in shapes_of:
            lines += comments.lines(path + (2, index), "        ")
            lines.append(f"        case {shape.name}({shape.element})")
        lines += ["    }", ""]
    for name, swift_type, _, comment in members:
        lines += comment
        lines.append(f"    public var {name}: {swift_type}")
    lines += initializers(members)
    lines += conversions(package, message, full, plain, oneofs, c_prefix)
    return lines + ["}", ""]


def oneof_type(name):
    return "".join(word.capitalize() for word in name.split("_"))


def initializers(members):
    if not members:
        return ["    public init() {}", ""]
    lines = ["", "    public init() { self.init(" + f"{members[0][0].strip('`')}: {members[0][2]}) }}", "", "    public init("]
    lines += [f"        {name}: {swift_type} = {default}" + ("," if index < len(members) - 1 else "")
              for index, (name, swift_type, default, _) in enumerate(members)]
    lines.append("    ) {")
    lines += [f"        self.{name} = {name}" for name, _, _, _ in members]
    return lines + ["    }", ""]


def conversions(package, message, full, plain, oneofs, c_prefix):
    struct = c_type(package, message.name)
    lines = [f'    public static var messageName: String {{ "{full}" }}',
             f"    public static var cDescriptor: UnsafeRawPointer {{ UnsafeRawPointer({accessor(package, message.name)}()) }}",
             f"    public static var cSize: Int {{ MemoryLayout<{struct}>.size }}", "",
             "    public init(cMessage: UnsafeRawPointer) throws(Fault) {"]
    body = [f"        {shape.name} = {shape.decoded()}" for _, shape in plain]
    for name, shapes in oneofs:
        body += oneof_decoding(name, shapes)
    if body:
        lines.append(f"        let c = cMessage.assumingMemoryBound(to: {struct}.self)")
    lines += body + ["    }", "", "    public func fill(_ cMessage: UnsafeMutableRawPointer, arena: Arena) throws(Fault) {",
                     f"        let c = cMessage.bindMemory(to: {struct}.self, capacity: 1)", f"        {c_prefix}__init(c)"]
    for _, shape in plain:
        lines += [f"        {statement}" for statement in shape.encoded(shape.name)]
    for name, shapes in oneofs:
        lines += oneof_encoding(struct, name, shapes)
    return lines + ["    }"]


def oneof_decoding(name, shapes):
    lines = [f"        switch c.pointee.{name}_case.rawValue {{"]
    for _, shape in shapes:
        if shape.kind == Field.TYPE_MESSAGE:
            value = f"try (CField.message(c.pointee.{shape.c_name}) as {shape.element}?).map {{ .{shape.name}($0) }}"
        else:
            value = f".{shape.name}({shape.decoded()})"
        lines.append(f"        case {shape.number}: {property_name(name)} = {value}")
    return lines + [f"        default: {property_name(name)} = nil", "        }"]


def oneof_encoding(struct, name, shapes):
    lines = [f"        switch {property_name(name)} {{"]
    for _, shape in shapes:
        lines += [f"        case .{shape.name}(let value):",
                  f"            c.pointee.{name}_case = {struct}__{oneof_type(name)}Case(rawValue: {shape.number})"]
        lines += [f"            {statement}" for statement in shape.encoded("value")]
    return lines + ["        case nil: break", "        }"]
