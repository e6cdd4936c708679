internal import Faults

/// The resources of a preauthorization: ids with commas between them (rest-v1 §3.16). A comma within `<rss>…</rss>` does not separate.
struct RequestedResources: Hashable, Sendable {
    /// Longest list in bytes.
    static let largestByteCount = 128 * 1024

    /// In the order of the request, each once; never empty.
    let items: [RequestedResource]

    /// - Parameter text: As it was sent; `nil` when the parameter was absent.
    /// - Throws: `missing_resource` when it is absent or names nothing; `malformed_authz_request` when it is too long or one of its
    ///   resources is malformed.
    init(_ text: String?) throws(Fault) {
        let text = text ?? ""
        guard text.utf8.count <= Self.largestByteCount else { throw RequestedResource.malformed }
        var seen: Set<OctetText> = []
        let names = Self.split(text).filter { seen.insert($0).inserted }
        guard !names.isEmpty else { throw Fault(.missingResource, "Required 'resource' is not present") }
        var items: [RequestedResource] = []
        for name in names { items.append(try RequestedResource(name)) }
        self.items = items
    }

    /// - Parameter names: Each as it was sent; commas are a part of them.
    /// - Throws: As for a text.
    init(each names: [String]) throws(Fault) {
        guard names.reduce(0, { $0 + $1.utf8.count }) <= Self.largestByteCount else { throw RequestedResource.malformed }
        var seen: Set<OctetText> = []
        var items: [RequestedResource] = []
        for name in names where !name.isEmpty && seen.insert(name).inserted { items.append(try RequestedResource(name)) }
        guard !items.isEmpty else { throw Fault(.missingResource, "Required 'resource_id' is not present") }
        self.items = items
    }

    /// Parts without the white space around them; empty ones are left out. Looks at each byte a bounded number of times.
    private static func split(_ text: String) -> [String] {
        var parts: [String] = []
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            rest = rest.drop(while: isBlank)
            let end = separator(in: rest)
            let part = rest[..<end]
            rest = rest[end...].dropFirst()
            let trimmed = part.dropLast(part.reversed().prefix(while: isBlank).count)
            if !trimmed.isEmpty { parts.append(String(decoding: trimmed, as: UTF8.self)) }
        }
        return parts
    }

    /// Returns where the part at the start of `bytes` ends: at a comma that lies behind its `</rss>`, if it begins as a document.
    private static func separator(in bytes: ArraySlice<UInt8>) -> Int {
        guard bytes.first == UInt8(ascii: "<") else { return bytes.firstIndex(of: comma) ?? bytes.endIndex }
        var start = bytes.startIndex
        while let open = bytes[start...].firstIndex(of: UInt8(ascii: "<")) {
            let tag = bytes[open...]
            if tag.starts(with: closingTag) { return tag.firstIndex(of: comma) ?? bytes.endIndex }
            start = open + 1
        }
        return bytes.endIndex
    }

    private static let comma = UInt8(ascii: ",")
    private static let closingTag = Array("</rss".utf8)

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
