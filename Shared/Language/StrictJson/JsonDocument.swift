internal import Octets

/// A JSON text (RFC 8259) that remembers where each value stands.
public struct JsonDocument: Sendable {
    public let root: JsonNode
    private let text: [UInt8]

    /// - Parameters:
    ///   - text: UTF-8.
    ///   - dropsFlawedTexts: True: raw control characters and halves of surrogate pairs in a string make the member absent whose name or value it is, and an element
    ///     `null`, where they make the whole no JSON otherwise.
    /// - Throws: `JsonSyntaxError` with line and column of the first byte that does not fit.
    public init(parsing text: [UInt8], dropsFlawedTexts: Bool = false) throws(JsonSyntaxError) {
        self.text = text
        var parser = JsonParser(text, dropsFlawedTexts: dropsFlawedTexts)
        do throws(JsonParser.Failure) {
            root = try parser.document()
        } catch {
            throw JsonSyntaxError(position: JsonPosition(of: error.offset, in: text), message: error.message)
        }
    }

    public func position(of offset: Int) -> JsonPosition { JsonPosition(of: offset, in: text) }

    var positions: JsonPositionCounter { JsonPositionCounter(text) }
}

/// A place in a text, both from 1; columns count characters.
public struct JsonPosition: Sendable, Hashable, CustomStringConvertible {
    public let line: Int
    public let column: Int

    init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    init(of offset: Int, in text: [UInt8]) {
        let before = text.prefix(offset)
        let start = before.lastIndex(of: 0x0a).map { $0 + 1 } ?? 0
        line = before.count { $0 == 0x0a } + 1
        column = before[start...].count { $0 & 0xc0 != 0x80 } + 1
    }

    public var description: String { "line \(line), column \(column)" }
}

/// Why a text is not JSON.
public struct JsonSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    public let position: JsonPosition
    public let message: String

    public var description: String { "\(position): \(message)" }
}
