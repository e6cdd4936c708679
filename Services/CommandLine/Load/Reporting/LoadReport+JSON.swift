public import Foundation

extension LoadReport {
    /// The JSON form: sorted keys, so that two reports can be compared line by line.
    public func json() throws -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        return try encoder.encode(self)
    }

    /// Reads the JSON form.
    /// - Throws: `UnreadableReport` that says what is wrong with it.
    public init(json: Data) throws {
        struct Head: Decodable { var format: String }
        do {
            let format = try JSONDecoder().decode(Head.self, from: json).format
            guard format == Self.currentFormat else {
                throw UnreadableReport("its format is '\(format)'; this version reads '\(Self.currentFormat)'")
            }
            self = try JSONDecoder().decode(LoadReport.self, from: json)
        } catch let error as DecodingError {
            throw UnreadableReport("it is no report of boxoffice load (\(Self.place(of: error)))")
        }
    }

    private static func place(of error: DecodingError) -> String {
        switch error {
        case .keyNotFound(let key, _): "'\(key.stringValue)' is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            "'\(context.codingPath.map(\.stringValue).joined(separator: "."))' is of a wrong type"
        case .dataCorrupted(let context): context.debugDescription
        @unknown default: "\(error)"
        }
    }
}

/// A file that is no report.
public struct UnreadableReport: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
