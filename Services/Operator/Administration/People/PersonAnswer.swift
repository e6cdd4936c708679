internal import Foundation

/// What `/admin/v1/people/erase` answers, as lines for a terminal.
struct PersonAnswer: Decodable {
    struct Part: Decodable {
        /// Rows by table.
        let erased: [String: Int]
        let remainders: [Remainder]
    }

    struct Remainder: Decodable {
        let name: String
        let rows: Int
        let reason: String
        let end: String
    }

    let services: [String: Part]

    init(_ body: [UInt8]) throws { self = try JSONDecoder().decode(PersonAnswer.self, from: Data(body)) }

    var lines: [String] {
        var lines: [String] = []
        let names = services.keys.sorted()
        for service in names {
            for (table, rows) in (services[service]?.erased ?? [:]).sorted(by: { $0.key < $1.key }) {
                lines.append("\(service)  \(table)  \(rows) \(rows == 1 ? "row" : "rows") erased")
            }
        }
        if lines.isEmpty { lines.append("nothing was held about this person") }
        lines.append("what stays:")
        for service in names {
            for remainder in services[service]?.remainders ?? [] {
                let count = remainder.rows > 0 ? " (\(remainder.rows))" : ""
                lines.append("  \(service)  \(remainder.name)\(count): \(remainder.reason); goes \(remainder.end)")
            }
        }
        return lines
    }

    /// The same JSON with a line for each member.
    static func readable(_ body: [UInt8]) throws -> String {
        let object = try JSONSerialization.jsonObject(with: Data(body))
        let data = try JSONSerialization.data(withJSONObject: object, options: [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes])
        return String(decoding: data, as: UTF8.self)
    }
}
