public import Contracts
internal import Cryptography
internal import Faults

/// The administrators, by the SHA-256 of their bearers; the bearers themselves are not kept.
public struct AdministratorRegistry: Sendable {
    /// A bearer cannot be used for this reason.
    public struct Rejection: Error, Sendable, CustomStringConvertible {
        public let description: String
    }

    /// Characters; a random 128-bit value in base 16 has 32.
    private static let shortest = 32

    private struct Entry: Sendable {
        let digest: [UInt8]
        let administrator: Administrator
    }

    private var entries: [Entry] = []

    public init() {}

    /// - Parameter token: As the file has it; white space around it does not count.
    /// - Throws: `Rejection` when the bearer is too short or somebody else's, or the name is taken.
    public mutating func add(_ settings: AdministratorSettings, token: String) throws(Rejection) {
        try add(
            settings.name, Self.role(settings.role), programmers: settings.programmers, mvpd: settings.mvpd, rights: settings.rights, token: token)
    }

    /// - Parameter mvpd: The proxy that the role proxy acts for; empty: none.
    public mutating func add(
        _ name: String, _ role: AdministratorRole, programmers: [String] = [], mvpd: String = "", rights: [AdministratorSettings.Right] = [],
        token: String
    ) throws(Rejection) {
        let token = Self.trimmed(token)
        guard token.utf8.count >= Self.shortest else { throw Rejection(description: "holds fewer than \(Self.shortest) characters") }
        let digest = SHA256.hash(token)
        guard !entries.contains(where: { $0.digest == digest }) else { throw Rejection(description: "holds another administrator's token") }
        guard !entries.contains(where: { $0.administrator.name == name }) else {
            throw Rejection(description: "is for '\(name)', who is there twice")
        }
        let administrator = Administrator(
            name: name, role: role, programmerIDs: programmers, proxyMvpdID: mvpd, rights: Set(rights.map(\.rawValue)).sorted())
        entries.append(Entry(digest: digest, administrator: administrator))
    }

    /// Every entry is looked at, whichever fits.
    /// - Throws: `access_denied`.
    func administrator(token: String) throws(Fault) -> Administrator {
        let digest = SHA256.hash(token)
        var found: Administrator?
        for entry in entries where ConstantTime.equal(entry.digest, digest) { found = entry.administrator }
        guard let found else { throw Fault(.accessDenied, "The administrator's token is not known.") }
        return found
    }

    func has(_ name: String) -> Bool { entries.contains { $0.administrator.name == name } }

    /// The mark of the bearer in the session that it opened: the same for one bearer, and no way back to it.
    func mark(of token: String) -> String { Self.mark(SHA256.hash(token)) }

    /// - Parameter mark: The mark of the bearer.
    /// - Throws: `access_denied` when the administrator has gone, or has another bearer by now.
    func administrator(named name: String, mark: String) throws(Fault) -> Administrator {
        guard let entry = entries.first(where: { $0.administrator.name == name }), Self.mark(entry.digest) == mark else { throw .noSession }
        return entry.administrator
    }

    private static func mark(_ digest: [UInt8]) -> String { Hex.encode(SHA256.hash(Array("session\n".utf8) + digest)) }

    private static func role(_ role: AdministratorSettings.Role) -> AdministratorRole {
        switch role {
        case .viewer: .viewer
        case .editor: .editor
        case .operator: .operator
        case .proxy: .proxy
        }
    }

    private static func trimmed(_ text: String) -> String {
        var text = Substring(text)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text.drop(while: \.isWhitespace))
    }
}
