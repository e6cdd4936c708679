package import Faults
internal import TextEncodings

/// Parameters of a request: query and form together (rest-v1 §2.3).
package struct ParameterSet: Sendable {
    /// In the order in which they were sent. Requests have a handful: to look through them costs less than a table.
    private var sent: [(name: String, value: String)] = []
    /// With more of them there is a table as well.
    private var table: [OctetText: [String]] = [:]
    private static let few = 16

    package init() {}

    /// - Throws: `invalid_request` when a name or value is no percent-encoded UTF-8 text, or holds a NUL.
    package init(query: [UInt8], form: [UInt8]) throws(Fault) {
        try add(query)
        try add(form)
        if sent.count > Self.few { table = Dictionary(grouping: sent) { OctetText($0.name) }.mapValues { $0.map(\.value) } }
    }

    /// Everything that was sent, in order.
    package var pairs: [(name: String, value: String)] { sent }

    /// Each value that was sent under the name, in order.
    package func all(_ name: String) -> [String] {
        sent.count > Self.few ? table[name] ?? [] : sent.compactMap { $0.name == name ? $0.value : nil }
    }

    /// - Returns: `nil` when the parameter was not sent.
    /// - Throws: `invalid_request` when it was sent with two different values.
    package func value(_ name: String) throws(Fault) -> String? {
        guard sent.count <= Self.few else { return try Self.single(table[name] ?? [], name) }
        var found: String?
        for parameter in sent where parameter.name == name {
            if found != nil { return try Self.single(all(name), name) }
            found = parameter.value
        }
        return found
    }

    private static func single(_ values: [String], _ name: String) throws(Fault) -> String? {
        guard values.dropFirst().allSatisfy({ $0 == values[0] }) else {
            throw Fault(.invalidRequest, "Parameter '\(name)' is present more than once")
        }
        return values.first
    }

    /// - Throws: `invalid_request` when it is absent or empty, or was sent with two different values.
    package func required(_ name: String) throws(Fault) -> String {
        guard let value = try value(name), !value.isEmpty else { throw Fault(.invalidRequest, "Required '\(name)' is not present") }
        return value
    }

    private mutating func add(_ encoded: [UInt8]) throws(Fault) {
        var start = 0
        while start < encoded.count {
            let end = encoded[start...].firstIndex(of: UInt8(ascii: "&")) ?? encoded.count
            defer { start = end + 1 }
            guard end > start else { continue }
            let equals = encoded[start..<end].firstIndex(of: UInt8(ascii: "=")) ?? end
            let name = try Self.decode(encoded[start..<equals])
            sent.append((name, equals == end ? "" : try Self.decode(encoded[(equals + 1)..<end])))
        }
    }

    private static func decode(_ encoded: ArraySlice<UInt8>) throws(Fault) -> String {
        if encoded.allSatisfy(isPlain) { return String(decoding: encoded, as: UTF8.self) }
        guard let text = PercentEncoding.decode(encoded, plusIsSpace: true) else {
            throw Fault(.invalidRequest, "A parameter is not encoded as UTF-8 text")
        }
        return text
    }

    /// True for what stands for itself: ASCII but for NUL, `%` and `+`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        byte > 0 && byte < 0x80 && byte != UInt8(ascii: "%") && byte != UInt8(ascii: "+")
    }
}
