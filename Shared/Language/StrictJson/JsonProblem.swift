internal import Octets

/// Something wrong with a value, and its place.
public struct JsonProblem: Error, Sendable, Hashable, CustomStringConvertible {
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

    public private(set) var list: [JsonProblem] = []
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
        list.append(JsonProblem(path: path, position: positions.position(of: offset), message: message))
    }
}
