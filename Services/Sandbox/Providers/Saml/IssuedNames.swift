internal import SandboxKit
internal import Synchronization

/// A name under which a person was made known in a session.
struct IssuedName: Sendable, Equatable {
    let name: String
    /// URI.
    let format: String
    let spNameQualifier: String?
    /// The issuer: the provider, or one behind it.
    let issuer: String
}

/// The last name of each session: what a logout request has to repeat.
final class IssuedNames: Sendable {
    /// Most sessions that are remembered; the oldest goes first.
    static let limit = 10_000

    private struct Content {
        var names: [String: IssuedName] = [:]
        var order: [String] = []
        var asked: Set<String> = []
    }

    private let content = Mutex(Content())

    func remember(_ name: IssuedName, session index: String) {
        content.withLock { content in
            if content.names.updateValue(name, forKey: index) == nil { content.order.append(index) }
            if content.order.count > Self.limit { content.names[content.order.removeFirst()] = nil }
        }
    }

    func name(session index: String) -> IssuedName? { content.withLock { $0.names[index] } }

    /// A name that was given out with that text, in any session.
    func name(_ text: String) -> IssuedName? { content.withLock { $0.names.values.first { $0.name == text } } }

    /// Ends sessions under a name.
    /// - Parameter indexes: Empty: every one of the name.
    func end(name: String, indexes: [String]) {
        content.withLock { content in
            let ended = content.names.filter { $0.value.name == name && (indexes.isEmpty || indexes.contains($0.key)) }.map(\.key)
            for index in ended { content.names[index] = nil }
            content.order.removeAll(where: ended.contains)
        }
    }

    /// True for a session that was begun here and has not been ended.
    func isAlive(session index: String) -> Bool { name(session: index) != nil }

    /// Remembers a logout request until its answer.
    func asked(_ identifier: String) { _ = content.withLock { $0.asked.insert(identifier) } }

    /// - Returns: False when no such request waits.
    func answered(_ identifier: String) -> Bool { content.withLock { $0.asked.remove(identifier) != nil } }
}

/// The kinds of name identifier that the stand-in issues (SAML core §8.3).
enum NameIDFormat: String, Sendable {
    case persistent = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
    case transient = "urn:oasis:names:tc:SAML:2.0:nameid-format:transient"

    /// - Parameter requested: The `Format` of a `NameIDPolicy`; nil or unspecified leaves the choice to the provider.
    /// - Returns: nil when the format is not offered.
    init?(requested: String?) {
        switch requested {
        case nil, "urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified": self = .persistent
        case let format?: self.init(rawValue: format)
        }
    }
}
