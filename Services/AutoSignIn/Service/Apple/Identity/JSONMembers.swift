/// The members of one JSON object (RFC 8259), all different: two readers could take a member that occurs twice for two things.
///
/// Objects and arrays inside are checked in the same way but kept as they are written.
package struct JSONMembers: Sendable {
    enum Value: Sendable {
        case string(String)
        /// Nil unless it is a whole number of 64 bits, written without fraction and exponent.
        case number(Int64?)
        case bool(Bool)
        case null
        /// The text of the object.
        case object([UInt8])
        case array
    }

    private let list: [(name: String, value: Value)]

    /// - Returns: `nil` unless the text is one object.
    package init?(_ text: [UInt8]) {
        var reader = JSONMemberReader(text)
        guard let list = try? reader.document() else { return nil }
        self.list = list
    }

    /// An object has a dozen members: a search costs less than a table of them.
    subscript(name: String) -> Value? { list.first { $0.name == name }?.value }

    func string(_ name: String) -> String? {
        guard case .string(let text) = self[name] else { return nil }
        return text
    }

    func number(_ name: String) -> Int64? {
        guard case .number(let number) = self[name] else { return nil }
        return number
    }

    /// A Boolean, or its name as a string: Apple sends either (apple §2.3).
    func bool(_ name: String) -> Bool? {
        switch self[name] {
        case .bool(let isTrue): isTrue
        case .string("true"): true
        case .string("false"): false
        default: nil
        }
    }
}
