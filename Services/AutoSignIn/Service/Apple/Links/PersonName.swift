internal import Contracts

/// The person's name that Apple told once, made harmless (apple §2.7). Each part may be missing.
struct PersonName: Hashable, Sendable, Codable {
    let given: String?
    let family: String?

    /// Characters of a part.
    static let longest = 64

    /// - Returns: `nil` when nothing is left of it.
    init?(given: String, family: String) {
        self.given = Self.sanitised(given)
        self.family = Self.sanitised(family)
        if self.given == nil, self.family == nil { return nil }
    }

    init?(_ user: FirstTimeUser?) {
        guard let user else { return nil }
        self.init(given: user.givenName, family: user.familyName)
    }

    /// The form's field `user` of a web sign-in: JSON with `name` of `firstName` and `lastName`.
    init?(json: String) {
        guard json.utf8.count <= 4096, case .object(let name)? = JSONMembers(Array(json.utf8))?["name"] else {
            return nil
        }
        self.init(given: name.string("firstName") ?? "", family: name.string("lastName") ?? "")
    }

    /// Nothing that means something to HTML, a shell, a template or a terminal; white space as single blanks.
    private static func sanitised(_ text: String) -> String? {
        let kept = text.unicodeScalars.map { scalar -> Character in
            if scalar.properties.isWhitespace { return " " }
            return isHarmless(scalar) ? Character(scalar) : "\u{0}"
        }
        let words = String(kept.filter { $0 != "\u{0}" }).split(separator: " ")
        let name = String(words.joined(separator: " ").prefix(longest))
        return name.isEmpty ? nil : name
    }

    private static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: !#"<>&"`\{}[]$%=;|"#.unicodeScalars.contains(scalar)
        }
    }
}
