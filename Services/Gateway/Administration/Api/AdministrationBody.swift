internal import Contracts
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// Reads the JSON that administrators send.
enum AdministrationBody {
    /// The text as it was sent: the config service reads it.
    /// - Throws: 415, or 400 when it is no text.
    static func text(_ exchange: Exchange) throws(AdministrationError) -> String {
        guard Exchange.mediaType(exchange.headers) == "application/json" else { throw .unsupportedMediaType }
        guard let text = String(validating: exchange.body.readableBytesView, as: UTF8.self), !text.utf8.contains(0) else {
            throw .badRequest("The body is not UTF-8 text")
        }
        return text
    }

    /// - Parameter body: Reads the members; one that it does not ask for is refused.
    /// - Throws: 415; 400 when it is no JSON; 422 naming each member that does not fit.
    static func object<Value>(_ exchange: Exchange, _ body: (JsonObject) -> Value) throws(AdministrationError) -> Value {
        let text = try text(exchange)
        let document: JsonDocument
        do { document = try JsonDocument(parsing: Array(text.utf8)) } catch { throw .badRequest("The body is not JSON: \(error)") }
        let problems = JsonProblems(of: document)
        let value = problems.root.object(body)
        guard problems.list.isEmpty, let value else {
            throw .invalid(problems.list.map { FieldProblem(field: $0.path.description, message: $0.message) })
        }
        return value
    }
}

extension JsonObject {
    /// A text that must be there.
    func text(_ name: String) -> String { required(name).map(Self.text) ?? "" }

    /// - Returns: An empty text when it is absent.
    func optionalText(_ name: String) -> String { optional(name).map(Self.text) ?? "" }

    func texts(_ name: String) -> [String] { optional(name)?.array { Self.text($0) } ?? [] }

    /// Milliseconds since 1970.
    func instant(_ name: String) -> UInt64 { UInt64(required(name)?.integer(in: 1...253_402_300_799_999) ?? 0) }

    /// - Returns: 0 when it is absent.
    func optionalInstant(_ name: String) -> UInt64 { UInt64(optional(name)?.integer(in: 1...253_402_300_799_999) ?? 0) }

    /// The services carry no text with a NUL.
    private static func text(_ value: JsonValue) -> String {
        let text = value.string() ?? ""
        guard text.utf8.contains(0) else { return text }
        value.problem("must not hold a NUL")
        return ""
    }
}
