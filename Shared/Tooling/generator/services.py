"""Swift protocols of services, their clients, their registration on a server, and their doubles for tests."""

from google.protobuf.descriptor_pb2 import MethodOptions

from names import method_name

LEVELS = {
    MethodOptions.IDEMPOTENCY_UNKNOWN: "unknown", MethodOptions.NO_SIDE_EFFECTS: "noSideEffects", MethodOptions.IDEMPOTENT: "idempotent",
}


def short(type_name):
    return type_name.rsplit(".", 1)[1]


def signature(method, padding):
    request, response = short(method.input_type), short(method.output_type)
    result = f"AsyncThrowingStream<{response}, any Error>" if method.server_streaming else response
    return f"{padding}func {method_name(method.name)}(_ request: {request}, context: CallContext) async throws -> {result}"


def service_source(package, service, comments, path):
    lines = comments.lines(path, "") or [f"/// The operations of `{package}.{service.name}`, for the service that offers them and for its callers."]
    lines.append(f"public protocol {service.name}: Sendable {{")
    for index, method in enumerate(service.method):
        lines += comments.lines(path + (2, index), "    ")
        lines.append(signature(method, "    "))
    lines += ["}", ""] + methods_source(package, service) + client_source(package, service)
    return lines


def methods_source(package, service):
    full = f"{package}.{service.name}"
    lines = [f"/// The methods of `{full}`.", f"public enum {service.name}Methods {{", f'    public static let service = "{full}"', ""]
    for method in service.method:
        kind = "StreamMethod" if method.server_streaming else "UnaryMethod"
        types = f"{short(method.input_type)}, {short(method.output_type)}"
        level = LEVELS[method.options.idempotency_level]
        lines += [f"    public static let {method_name(method.name)} = {kind}<{types}>(",
                  f'        service: service, name: "{method.name}", idempotency: .{level})']
    lines += ["", "    /// Offers the operations of an implementation.",
              f"    public static func register(_ implementation: some {service.name}, in registry: inout some MethodRegistry) {{"]
    for method in service.method:
        verb = "stream" if method.server_streaming else "unary"
        name = method_name(method.name)
        lines.append(f"        registry.{verb}({name}) {{ try await implementation.{name}($0, context: $1) }}")
    return lines + ["    }", "}", ""]


def client_source(package, service):
    lines = [f"/// Calls `{package}.{service.name}` at a peer.", f"public struct {service.name}Client: {service.name} {{",
             "    private let caller: any RpcCaller", "", "    public init(caller: any RpcCaller) { self.caller = caller }"]
    for method in service.method:
        verb = "stream" if method.server_streaming else "call"
        name = method_name(method.name)
        lines += ["", signature(method, "    public ") + " {",
                  f"        try await caller.{verb}({service.name}Methods.{name}, request, context: context)", "    }"]
    return lines + ["}", ""]


def double_source(package, service):
    lines = [f"/// Stands in for `{package}.{service.name}`. Each operation answers as its script says;",
             "/// until it has one it fails with `unimplemented`.",
             f"public final class {service.name}Double: {service.name} {{"]
    for method in service.method:
        result = short(method.output_type)
        answer = f"AsyncThrowingStream<{result}, any Error>" if method.server_streaming else result
        lines.append(f"    public let {method_name(method.name)}: Scripted<{short(method.input_type)}, {answer}>")
    names = [method_name(method.name) for method in service.method]
    lines += ["", "    public init() {"] + [f"        {name} = Scripted()" for name in names] + ["    }", ""]
    lines += ["    /// Answers as an implementation does, until an operation is told otherwise.",
              f"    public init(over implementation: any {service.name}) {{"]
    lines += [f"        {name} = Scripted {{ try await implementation.{name}($0, context: $1) }}" for name in names] + ["    }"]
    for method in service.method:
        lines += ["", signature(method, "    public ") + " {", f"        try await {method_name(method.name)}(request, context)", "    }"]
    return lines + ["}", ""]
