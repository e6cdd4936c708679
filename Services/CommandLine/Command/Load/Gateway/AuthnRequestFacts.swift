internal import CInflate
internal import Cryptography
internal import Foundation

/// What an MVPD has to know of a sign-in request to answer it.
///
/// Read without an XML parser: the request is the loaded service's own, and a wrong reading shows as a failed sign-in.
struct AuthnRequestFacts: Sendable, Equatable {
    let id: String
    let issuer: String
    let assertionConsumerService: String
    private static let largest = 64 * 1024

    /// - Parameter document: The request as XML.
    init?(document: String) {
        guard let id = Self.attribute("ID", document), let service = Self.attribute("AssertionConsumerServiceURL", document),
            let issuer = document.firstMatch(of: /<saml:Issuer[^>]*>([^<]+)<\/saml:Issuer>/)
        else { return nil }
        self.id = id
        self.issuer = Self.unescaped(String(issuer.1))
        assertionConsumerService = service
    }

    /// - Parameter profileRequest: Base64 of the request, as the platform's framework gets it (rest-v1 §3.13).
    init?(profileRequest: String) {
        guard let octets = Data(base64Encoded: profileRequest.trimmingCharacters(in: .whitespacesAndNewlines)) else { return nil }
        self.init(document: String(decoding: octets, as: UTF8.self))
    }

    /// - Parameter redirect: `SAMLRequest` of an address of the Redirect binding, decoded from the query: Base64 of the deflated request.
    init?(redirect: String) {
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

    private static func attribute(_ name: String, _ document: String) -> String? {
        guard let start = document.range(of: " \(name)=\""), let end = document[start.upperBound...].firstIndex(of: "\"") else { return nil }
        return unescaped(String(document[start.upperBound..<end]))
    }

    private static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        return text.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&quot;", with: "\"").replacing("&amp;", with: "&")
    }
}
