extension KeyedDecodingContainer {
    func text(_ key: Key) throws -> String {
        let text = try decode(String.self, forKey: key)
        guard !text.isEmpty else { throw refuse(key, "must not be empty") }
        return text
    }

    /// An address of the web.
    func address(_ key: Key) throws -> String {
        let text = try text(key)
        let rest = ["https://", "http://"].first { text.hasPrefix($0) }.map { text.dropFirst($0.count) } ?? ""
        let host = rest.prefix { !"/?#".contains($0) }
        guard !host.isEmpty, text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: "\\") }),
            !host.contains("@")
        else { throw refuse(key, "must be an http or https address; it is '\(text)'") }
        return text
    }

    /// An address to which paths are added.
    func base(_ key: Key) throws -> String {
        let text = try address(key)
        guard !text.hasSuffix("/"), !text.contains("?"), !text.contains("#") else {
            throw refuse(key, "must not end in a slash or have a query; it is '\(text)'")
        }
        return text
    }

    func number(_ key: Key, _ range: ClosedRange<Int>, default fallback: Int) throws -> Int {
        let number = try decodeIfPresent(Int.self, forKey: key) ?? fallback
        guard range.contains(number) else { throw refuse(key, "must be from \(range.lowerBound) to \(range.upperBound); it is \(number)") }
        return number
    }

    private func refuse(_ key: Key, _ problem: String) -> DecodingError {
        .dataCorruptedError(forKey: key, in: self, debugDescription: problem)
    }
}
