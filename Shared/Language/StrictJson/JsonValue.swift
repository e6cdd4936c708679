internal import Octets

/// A value being read: what does not fit becomes a problem of the document, and the reader goes on.
public struct JsonValue {
    let node: JsonNode
    public let path: JsonPath
    let problems: JsonProblems

    public var isString: Bool { if case .string = node.content { true } else { false } }
    public var isObject: Bool { if case .object = node.content { true } else { false } }
    public var isArray: Bool { if case .array = node.content { true } else { false } }

    /// Notes what is wrong with this value.
    /// - Parameter message: Goes on from the path: `must be …`.
    public func problem(_ message: String) { problems.add(path, at: node.offset, message) }

    /// Reads an object; names that the body did not ask for, and names that occur twice, become problems.
    /// - Returns: `nil` when it is no object.
    @discardableResult
    public func object<Result>(_ body: (JsonObject) -> Result) -> Result? {
        guard case .object(let members) = node.content else { return mismatch("an object") }
        let object = JsonObject(members: members, value: self)
        let result = body(object)
        object.refuseUnknownNames()
        return result
    }

    /// Reads an array; elements for which the body returns `nil` are left out.
    public func array<Element>(_ element: (JsonValue) -> Element?) -> [Element] {
        guard case .array(let nodes) = node.content else { return mismatch("an array") ?? [] }
        return nodes.enumerated().compactMap { index, node in
            element(JsonValue(node: node, path: path.appending(index: index), problems: problems))
        }
    }

    public func string() -> String? {
        guard case .string(let string) = node.content else { return mismatch("a string") }
        return string
    }

    public func bool() -> Bool? {
        guard case .bool(let bool) = node.content else { return mismatch("true or false") }
        return bool
    }

    public func integer(in range: ClosedRange<Int64>) -> Int64? {
        guard case .number(let text) = node.content, let number = Int64(text) else { return mismatch("a whole number") }
        guard range.contains(number) else {
            problem("must be from \(range.lowerBound) to \(range.upperBound); it is \(number)")
            return nil
        }
        return number
    }

    /// - Parameter choices: The words that are allowed, and what they stand for.
    public func choice<Value>(_ choices: KeyValuePairs<String, Value>) -> Value? {
        guard let word = string() else { return nil }
        if let match = choices.first(where: { $0.key == word }) { return match.value }
        problem("must be one of \(choices.map { "'\($0.key)'" }.joined(separator: ", ")); it is '\(word)'")
        return nil
    }

    private func mismatch<Value>(_ wanted: String) -> Value? {
        problem("must be \(wanted); it is \(node.kind)")
        return nil
    }
}

/// The members of an object being read.
public final class JsonObject {
    private let members: [JsonMember]
    private let value: JsonValue
    private var known: Set<OctetText> = []

    init(members: [JsonMember], value: JsonValue) {
        self.members = members
        self.value = value
    }

    public var path: JsonPath { value.path }

    /// Notes what is wrong with the object as a whole.
    public func problem(_ message: String) { value.problem(message) }

    /// The member of that name; a problem when there is none.
    public func required(_ name: String) -> JsonValue? {
        if let value = optional(name) { return value }
        let path = value.path.appending(key: name)
        value.problems.add(path, at: value.node.offset, "is missing")
        return nil
    }

    /// The member of that name, or `nil`.
    public func optional(_ name: String) -> JsonValue? {
        known.insert(name)
        return members.first { $0.name == name }.map {
            JsonValue(node: $0.value, path: value.path.appending(key: name), problems: value.problems)
        }
    }

    /// Reads all members, whatever their names; those for which the body returns `nil` are left out.
    public func entries<Element>(_ body: (_ name: String, _ value: JsonValue) -> Element?) -> [Element] {
        members.compactMap { member in
            known.insert(member.name)
            return body(member.name, JsonValue(node: member.value, path: value.path.appending(key: member.name), problems: value.problems))
        }
    }

    func refuseUnknownNames() {
        var seen: Set<OctetText> = []
        for member in members {
            let path = value.path.appending(key: member.name)
            if !known.contains(member.name) {
                value.problems.add(path, at: member.offset, "is not known here; known are \(known.texts.sorted().joined(separator: ", "))")
            } else if !seen.insert(member.name).inserted {
                value.problems.add(path, at: member.offset, "occurs twice")
            }
        }
    }
}

/// Something wrong with a value, and its place.
public struct JsonRejection: Error, Sendable, Hashable, CustomStringConvertible {
    public let path: JsonPath
    /// `nil` when the problem is what is not there.
    public let position: JsonPosition?
    /// Goes on from the path: `is missing`, `must be …`.
    public let message: String

    public init(path: JsonPath, position: JsonPosition?, message: String) {
        self.path = path
        self.position = position
        self.message = message
    }

    public var description: String {
        let subject = path.description.isEmpty ? "the file" : path.description
        return position.map { "\(subject) (\($0)) \(message)" } ?? "\(subject) \(message)"
    }
}

/// Collects all that is wrong with a document while it is read; a reader goes on after a problem.
public final class JsonProblems {
    /// Further problems are not kept: a hostile text may have any number, and no one reads more.
    public static let most = 500

    public private(set) var list: [JsonRejection] = []
    private let document: JsonDocument
    private var positions: JsonPositionCounter

    public init(of document: JsonDocument) {
        self.document = document
        positions = document.positions
    }

    /// The whole document, to be read.
    public var root: JsonValue { JsonValue(node: document.root, path: .root, problems: self) }

    func add(_ path: JsonPath, at offset: Int, _ message: String) {
        guard list.count < Self.most else { return }
        list.append(JsonRejection(path: path, position: positions.position(of: offset), message: message))
    }
}

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
        do throws(JsonParser.Rejection) {
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

/// A text is not JSON for this reason.
public struct JsonSyntaxError: Error, Sendable, Hashable, CustomStringConvertible {
    public let position: JsonPosition
    public let message: String

    public var description: String { "\(position): \(message)" }
}
