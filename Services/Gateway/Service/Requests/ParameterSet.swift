internal import Faults

/// Parameters of a request: query and form together (rest-v1 §2.3).
struct ParameterSet: Sendable {
    private var values: [String: [String]] = [:]

    init() {}

    /// - Throws: `invalid_request` when a name or value is no percent-encoded UTF-8 text, or holds a NUL.
    init(query: some Collection<UInt8>, form: some Collection<UInt8>) throws(Fault) {
        try add(query)
        try add(form)
    }

    /// Each value that was sent under the name, in order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// - Returns: `nil` when the parameter was not sent.
    /// - Throws: `invalid_request` when it was sent with two different values.
    func value(_ name: String) throws(Fault) -> String? {
        guard let sent = values[name] else { return nil }
        guard sent.dropFirst().allSatisfy({ $0 == sent[0] }) else {
            throw Fault(.invalidRequest, "Parameter '\(name)' is present more than once")
        }
        return sent[0]
    }

    /// - Throws: `invalid_request` when it is absent or empty, or was sent with two different values.
    func required(_ name: String) throws(Fault) -> String {
        guard let value = try value(name), !value.isEmpty else { throw Fault(.invalidRequest, "Required '\(name)' is not present") }
        return value
    }

    private mutating func add(_ encoded: some Collection<UInt8>) throws(Fault) {
        for pair in encoded.split(separator: UInt8(ascii: "&")) {
            let equals = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try Self.decode(pair[..<equals])
            let value = equals == pair.endIndex ? "" : try Self.decode(pair[pair.index(after: equals)...])
            values[name, default: []].append(value)
        }
    }

    private static func decode(_ encoded: some Collection<UInt8>) throws(Fault) -> String {
        guard let text = PercentEncoding.decode(encoded, plusIsSpace: true) else {
            throw Fault(.invalidRequest, "A parameter is not encoded as UTF-8 text")
        }
        return text
    }
}
