internal import Cryptography
internal import Faults
internal import GatewayEdge
internal import Hummingbird
internal import NIOCore
internal import StrictJson

/// Reads what calls of REST v2 have in common beside device and bearer.
enum V2Fields {
    /// A code in the path: 6 to 8 letters and digits, in whatever case (rest-v2 D7).
    /// - Throws: `invalid_parameter_code`.
    static func code(_ exchange: Exchange) throws(Fault) -> String {
        let code = (try? exchange.captured("code")) ?? ""
        let isCode =
            (6...8).contains(code.utf8.count)
            && code.utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
            }
        guard isCode else { throw Fault(.invalidParameterCode, "The code must have 6 to 8 letters and digits.") }
        return code
    }

    /// The MVPD in the path.
    /// - Throws: `invalid_mvpd` when it is blank or no text.
    static func mvpd(_ exchange: Exchange) throws(Fault) -> String {
        guard let mvpd = try? exchange.captured("mvpd"), mvpd.contains(where: { !$0.isWhitespace }) else {
            throw Fault(.invalidMvpd, "The MVPD is missing or not known.")
        }
        return mvpd
    }

    /// A field of a session's form: blank is absent; one that was sent twice with two values, or cannot be decoded, is refused.
    /// - Throws: `invalid_request`.
    static func field(_ name: String, _ exchange: Exchange) throws(Fault) -> String {
        let value = try exchange.value(name) ?? ""
        return value.contains { !$0.isWhitespace } ? value : ""
    }

    /// `AP-TempPass-Identity`: a JSON object as Base64, in either alphabet.
    /// - Returns: Empty when there is none that can be read: only a promotional TempPass needs it, and says so.
    static func identity(_ exchange: Exchange) -> String {
        let sent = exchange.headers[values: .apTempPassIdentity]
        guard sent.count == 1, let text = sent.first, text.utf8.count <= longestIdentity, let bytes = Base64.tolerant(text) else { return "" }
        guard let identity = String(validating: bytes, as: UTF8.self), !identity.utf8.contains(0) else { return "" }
        return identity
    }

    /// In octets: an e-mail address or its digest, and what is around it.
    private static let longestIdentity = 4096

    /// `{"resources": [...]}`, each resource a text that is not empty. A body of another type is as good as none (rest-v2 §1.1).
    /// - Throws: `missing_resource`, `malformed_authz_request`.
    static func resources(_ exchange: Exchange) throws(Fault) -> [String] {
        guard Exchange.mediaType(exchange.headers) == "application/json",
            let document = try? JsonDocument(parsing: Array(exchange.body.readableBytesView)), case .object(let members) = document.root.content
        else { throw missing }
        let lists = members.filter { $0.name == "resources" }
        guard lists.count == 1, case .array(let items) = lists[0].value.content, !items.isEmpty else { throw missing }
        var resources: [String] = []
        for item in items {
            guard case .string(let text) = item.content, !text.isEmpty, !text.utf8.contains(0) else {
                throw Fault(.malformedAuthzRequest, "Each of the resources must be a text that is not empty.")
            }
            resources.append(text)
        }
        return resources
    }

    private static let missing = Fault(.missingResource, "The body must be a JSON object with 'resources', a list of at least one text.")
}
