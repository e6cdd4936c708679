internal import Clocks
internal import FoundationEssentials

/// Values that a browser keeps for the provider, so that a restart forgets no sign-in that is under way.
struct Seal: Sendable {
    let key: SigningKey

    private struct Content<Value: Codable>: Codable {
        let until: Timestamp
        let value: Value
    }

    /// - Parameter purpose: A value sealed for one purpose does not open for another.
    func close(_ value: some Codable, purpose: String, until: Timestamp) throws -> String {
        let content = Array(try JSONEncoder().encode(Content(until: until, value: value)))
        return Base64.urlText(content) + "." + Base64.urlText(try key.authenticationCode(of: content, purpose: purpose))
    }

    /// - Returns: nil when the text is not a seal of this key for this purpose, or has expired.
    func open<Value: Codable>(_ text: String, as type: Value.Type, purpose: String, at now: Timestamp) -> Value? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let content = Base64.urlOctets(String(parts[0])), let code = Base64.urlOctets(String(parts[1])),
            let expected = try? key.authenticationCode(of: content, purpose: purpose), Self.equal(code, expected),
            let opened = try? JSONDecoder().decode(Content<Value>.self, from: Data(content)), now < opened.until
        else { return nil }
        return opened.value
    }

    private static func equal(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        left.count == right.count && zip(left, right).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
