internal import TextEncodings

/// A form of an HTML page, as far as a program needs it to press its button.
package struct WebForm: Equatable {
    package var action: String
    package var method: String
    package var fields: [(name: String, value: String)]

    package static func == (left: WebForm, right: WebForm) -> Bool {
        left.action == right.action && left.method == right.method && left.fields.elementsEqual(right.fields, by: ==)
    }

    /// The first form of a page; `nil` when it has none.
    package init?(html: String) {
        guard let form = html.firstMatch(of: /(?is)<form\b([^>]*)>(.*?)<\/form>/) else { return nil }
        let attributes = Self.attributes(String(form.1))
        action = attributes["action"] ?? ""
        method = (attributes["method"] ?? "get").lowercased()
        fields = form.2.matches(of: /(?is)<input\b([^>]*)>/).compactMap { input in
            let attributes = Self.attributes(String(input.1))
            return attributes["name"].map { ($0, attributes["value"] ?? "") }
        }
    }

    /// Sets the field of that name; adds it when the form has none.
    package mutating func fill(_ name: String, _ value: String) {
        if let index = fields.firstIndex(where: { $0.name == name }) {
            fields[index].value = value
        } else {
            fields.append((name, value))
        }
    }

    /// `application/x-www-form-urlencoded`.
    package var encoded: String {
        FormEncoding.encode(fields.map { ($0.name, $0.value) })
    }

    private static func attributes(_ text: String) -> [String: String] {
        var found: [String: String] = [:]
        for match in text.matches(of: /([A-Za-z-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/) {
            found[match.1.lowercased()] = unescaped(String(match.2 ?? match.3 ?? ""))
        }
        return found
    }

    fileprivate static func unescaped(_ text: String) -> String {
        guard text.contains("&") else { return text }
        let named = ["quot": "\"", "apos": "'", "lt": "<", "gt": ">", "amp": "&"]
        return text.replacing(/&(?:#x([0-9A-Fa-f]+)|#([0-9]+)|([a-z]+));/) { match in
            if let name = match.3 { return named[String(name)] ?? String(match.0) }
            let number = match.1.flatMap { UInt32($0, radix: 16) } ?? match.2.flatMap { UInt32($0) }
            return number.flatMap(Unicode.Scalar.init).map { String(Character($0)) } ?? String(match.0)
        }
    }
}

/// What a page says to the person who got stuck at it.
struct WebPage {
    /// The trace id, as the gateway's pages show it; `nil`: none is shown.
    let trace: String?
    /// The heading, without markup, cut to 100 characters; `nil`: none.
    let heading: String?

    init(html: String) {
        trace = html.firstMatch(of: /class="trace">\s*([0-9a-f]{32})\s*</).map { String($0.1) }
        let heading = html.firstMatch(of: /(?is)<h1\b[^>]*>(.*?)<\/h1>/).map { match in
            let words = WebForm.unescaped(String(match.1).replacing(/<[^>]*>/, with: " ")).split(whereSeparator: \.isWhitespace)
            return String(words.joined(separator: " ").prefix(100))
        }
        self.heading = heading.flatMap { $0.isEmpty ? nil : $0 }
    }
}
