internal import Foundation
internal import ServiceKit

/// What commands print for programs: times as ISO 8601, members in order.
enum JsonOutput {
    /// Prints an object whose members are only known to the caller.
    static func show(_ object: [String: Any]) throws {
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        StandardStream.output.writeOrEnd(data + Data("\n".utf8))
    }

    static func text(_ value: some Encodable) throws -> String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        return String(decoding: try encoder.encode(value), as: UTF8.self)
    }
}
