internal import ContractRuntime
internal import Spans

extension MethodIdentity {
    /// The attributes of a span for a call of the method.
    var attributes: [SpanAttribute] { Self.attributes(service: service, method: name) }

    static func attributes(service: String, method: String) -> [SpanAttribute] {
        [SpanAttribute("rpc.system", "boxoffice"), SpanAttribute("rpc.service", .text(service)), SpanAttribute("rpc.method", .text(method))]
    }
}
