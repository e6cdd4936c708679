internal import StrictJson

/// What is wrong with a settings file or a control message, and where.
public struct SettingsFault: Error, CustomStringConvertible, Equatable {
    /// The key's place, such as `mvpds[1].key`; empty for the whole text.
    public let key: String
    /// What is wrong, in words that follow the key.
    public let problem: String

    public init(key: String, problem: String) {
        self.key = key
        self.problem = problem
    }

    public var description: String { key.isEmpty ? problem : "\(key) \(problem)" }

    init(_ problem: JsonProblem) {
        let place = problem.position.map { "(\($0)) " } ?? ""
        self.init(key: problem.path.description, problem: place + problem.message)
    }

    /// Decodes JSON in which every key must be known.
    static func decode<Value: Decodable>(_ type: Value.Type, from json: [UInt8]) throws(SettingsFault) -> Value {
        let document: JsonDocument
        do {
            document = try JsonDocument(parsing: json)
        } catch {
            throw SettingsFault(key: "", problem: error.description)
        }
        do {
            return try StrictJsonDecoder().decode(type, from: document)
        } catch {
            throw SettingsFault(error)
        }
    }
}
