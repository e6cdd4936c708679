internal import Hummingbird

/// A strong validator (RFC 9110 §8.8.3).
struct EntityTag: Hashable, Sendable {
    /// Without quotes.
    let opaque: String

    init(_ opaque: String) { self.opaque = opaque }

    var text: String { "\"\(opaque)\"" }

    /// Weak comparison, as reading asks for it (RFC 9110 §13.1.2).
    func isNamed(in ifNoneMatch: String?) -> Bool {
        (ifNoneMatch ?? "").split(separator: ",").contains { entry in
            let candidate = entry.filter { $0 != " " && $0 != "\t" }
            return candidate == "*" || candidate == text || candidate == "W/" + text
        }
    }
}

extension Response {
    /// The same with the validator of what it holds; without one when the tag is empty.
    func with(_ tag: EntityTag) -> Response {
        var response = self
        if !tag.opaque.isEmpty { response.headers[.eTag] = tag.text }
        return response
    }

    static func notModified(_ tag: EntityTag) -> Response {
        Response(status: .notModified, headers: [.eTag: tag.text, .cacheControl: "no-store"])
    }
}
