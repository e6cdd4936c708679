internal import HTTPTypes

/// Names of header fields, checked and folded: the requests of a connection mostly have the same ones in the same order, so that those of the last
/// request serve for the next.
struct Http1FieldNames {
    private static let mostKept = 32
    /// In bytes.
    private static let longestKept = 64

    private var known: [HTTPField.Name] = []

    /// - Parameters:
    ///   - text: As it was sent.
    ///   - place: In the request.
    /// - Returns: `nil` when the text is no token (RFC 9110 §5.1).
    mutating func name(_ text: String, at place: Int) -> HTTPField.Name? {
        if place < known.count, known[place].rawName == text { return known[place] }
        guard let name = HTTPField.Name(text) else { return nil }
        guard text.utf8.count <= Self.longestKept else { return name }
        if place < known.count {
            known[place] = name
        } else if place == known.count, place < Self.mostKept {
            known.append(name)
        }
        return name
    }
}
