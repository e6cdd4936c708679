import Foundation

/// Text surgery on messages, as an attacker does it.
struct Markup {
    var text: String

    init(_ text: String) { self.text = text }

    /// The first element of that qualified name, with its content; its name must not occur inside it.
    func element(_ name: String) throws -> String {
        guard let start = text.range(of: "<\(name)[ >]", options: .regularExpression),
            let end = text.range(of: "</\(name)>", range: start.upperBound..<text.endIndex)
        else { throw NotFound(name: name) }
        return String(text[start.lowerBound..<end.upperBound])
    }

    func replacing(_ old: String, with new: String) throws -> Markup {
        guard let range = text.range(of: old) else { throw NotFound(name: old) }
        return Markup(text.replacingCharacters(in: range, with: new))
    }

    func removing(_ old: String) throws -> Markup { try replacing(old, with: "") }

    struct NotFound: Error {
        let name: String
    }
}

func base64(_ xml: String) -> String { Data(xml.utf8).base64EncodedString() }
