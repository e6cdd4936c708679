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
