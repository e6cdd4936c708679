internal import CInflate
internal import Foundation

/// What an MVPD has to know of a sign-in request to answer it.
///
/// Read without an XML parser, with any prefixes and quotes: the request comes from the service under test, and a reading error shows as a failed
/// sign-in.
public struct AuthnRequestFacts: Sendable, Equatable {
    public var id: String
    /// The service provider's entity id.
    public var issuer: String
    /// Where the answer goes.
    public var assertionConsumerService: String
    private static let largest = 64 * 1024

    /// - Parameter document: The request as XML.
    public init?(document: String) {
        guard let id = Self.attribute("ID", document), let service = Self.attribute("AssertionConsumerServiceURL", document),
            let issuer = document.firstMatch(of: /<(?:[A-Za-z_][\w.\-]*:)?Issuer(?:\s[^>]*)?>\s*([^<]*[^<\s])/)
        else { return nil }
        self.id = id
        self.issuer = Self.unescaped(String(issuer.1))
        assertionConsumerService = service
    }

    /// - Parameter profileRequest: Base64 of the request, as the platform's framework gets it (rest-v1 §3.13).
    public init?(profileRequest: String) {
        guard let octets = Data(base64Encoded: profileRequest.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        self.init(document: String(decoding: octets, as: UTF8.self))
    }

    /// - Parameter redirect: `SAMLRequest` of an address of the Redirect binding, decoded from the query: Base64 of the deflated request.
    public init?(redirect: String) {
        guard let deflated = Data(base64Encoded: redirect) else { return nil }
        let input = [UInt8](deflated)
        var length = 0
        let octets = [UInt8](unsafeUninitializedCapacity: Self.largest) { output, used in
            guard let base = output.baseAddress else { return }
            length = cinflate(input, input.count, base, Self.largest)
            used = max(0, length)
        }
        guard length > 0 else { return nil }
        self.init(document: String(decoding: octets, as: UTF8.self))
    }

    /// Of the first element that has it.
    private static func attribute(_ name: String, _ document: String) -> String? {
        var rest = document[...]
        while let found = rest.range(of: "\(name)=") {
            let before = document[..<found.lowerBound].last
            rest = rest[found.upperBound...]
            guard before?.isWhitespace == true, let quote = rest.first, quote == "\"" || quote == "'" else { continue }
            let value = rest.dropFirst()
            return value.firstIndex(of: quote).map { unescaped(String(value[..<$0])) }
        }
        return nil
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"").replacing("&apos;", with: "'")
            .replacing("&amp;", with: "&")
    }
}
