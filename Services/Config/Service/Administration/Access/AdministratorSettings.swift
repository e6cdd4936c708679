/// One of `config.administrators` in the settings.
public struct AdministratorSettings: Decodable, Sendable {
    public enum Role: String, Decodable, Sendable { case viewer, editor, `operator`, proxy }

    /// As it stands in logs; letters, digits, `_`, `-`, `.`, `@`.
    public let name: String
    /// Path of a file with the bearer, relative to the settings file.
    public let tokenFile: String
    public let role: Role
    /// Ids of the programmers of a viewer or editor.
    public let programmers: [String]
    /// Id of the MVPD whose list the role `proxy` keeps; empty: none.
    public let mvpd: String
    /// The administrator's rights beside those of the role; none unless set.
    public let rights: [Right]

    public enum Right: String, Decodable, Sendable {
        /// To export and erase everything about a person, whichever programmer's (Shared/Documents/Decisions/0081); operators have it.
        case personalData
    }

    private enum CodingKeys: String, CodingKey { case name, tokenFile, role, programmers, mvpd, rights }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        tokenFile = try container.decode(String.self, forKey: .tokenFile)
        role = try container.decode(Role.self, forKey: .role)
        programmers = try container.decodeIfPresent([String].self, forKey: .programmers) ?? []
        mvpd = try container.decodeIfPresent(String.self, forKey: .mvpd) ?? ""
        rights = try container.decodeIfPresent([Right].self, forKey: .rights) ?? []
        let isName = !name.isEmpty && name.utf8.count <= 128 && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.@".contains($0)) }
        guard isName else { throw Self.wrong(.name, container, "must be 1 to 128 letters, digits, '_', '-', '.' or '@'; it is '\(name)'") }
        let needsProgrammers = role == .viewer || role == .editor
        guard needsProgrammers != programmers.isEmpty else {
            let problem =
                needsProgrammers ? "must name the programmers of '\(name)'" : "must not be there: the role of '\(name)' is not bound to programmers"
            throw Self.wrong(.programmers, container, problem)
        }
        guard mvpd.isEmpty || role == .proxy else {
            throw Self.wrong(.mvpd, container, "must not be there: only the role 'proxy' keeps the list of an MVPD, and '\(name)' has another one")
        }
    }

    private static func wrong(_ key: CodingKeys, _ container: KeyedDecodingContainer<CodingKeys>, _ problem: String) -> DecodingError {
        DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: problem)
    }
}
