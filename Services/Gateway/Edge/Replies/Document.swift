/// A reply's content, once for both formats.
package struct Document: Sendable {
    /// Name of the XML root; JSON has none.
    package let root: String
    /// Namespace of the XML root; its children are unqualified.
    package var namespace: String?
    package let members: [Member]

    package init(_ root: String, namespace: String? = nil, _ members: [Member]) {
        self.root = root
        self.namespace = namespace
        self.members = members
    }

    package struct Member: Sendable {
        package let name: String
        package let value: Value
        /// The only format that carries the member; `nil`: both.
        package let only: ReplyFormat?

        package init(_ name: String, _ value: Value, only: ReplyFormat? = nil) {
            self.name = name
            self.value = value
            self.only = only
        }
    }

    package enum Value: Sendable {
        case text(String)
        case number(Int64)
        case flag(Bool)
        /// JSON `null`; in XML the element is left out.
        case null
        case object([Member])
        /// JSON text that goes in as it is; `null` when it is empty. XML leaves it out.
        case json(String)
        /// JSON array; in XML each value is an element of the given name.
        case list([Value], item: String)
    }
}

extension Document.Value {
    package static func number(_ value: UInt64) -> Document.Value { .number(Int64(clamping: value)) }

    /// The text, or `null` when it is empty.
    package static func optional(_ text: String) -> Document.Value { text.isEmpty ? .null : .text(text) }
}

/// The two formats of the API.
package enum ReplyFormat: String, Hashable, Sendable {
    case json
    case xml

    /// - Parameters:
    ///   - suffix: The suffix of the path, without its dot; wins.
    ///   - parameter: `format`; comes second.
    ///   - accept: The `Accept` header.
    /// - Returns: XML without any preference (rest-v1 §2.3).
    package init(suffix: String?, parameter: String?, accept: String?) {
        self =
            suffix.flatMap(ReplyFormat.init(rawValue:)) ?? parameter.flatMap { ReplyFormat(rawValue: $0.lowercased()) }
            ?? accept.flatMap(Self.preferred) ?? .xml
    }

    /// The better of the two types by q value, the first on a tie; wildcards say nothing.
    private static func preferred(in accept: String) -> ReplyFormat? {
        if let format = named(accept) { return format }
        var best: (format: ReplyFormat, quality: Double)?
        for entry in accept.split(separator: ",") {
            let parts = entry.split(separator: ";").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            guard let type = parts.first, let format = named(type) else { continue }
            let quality = parts.dropFirst().first { $0.hasPrefix("q=") }.flatMap { Double($0.dropFirst(2)) } ?? 1
            if quality > 0, quality > best?.quality ?? 0 { best = (format, quality) }
        }
        return best?.format
    }

    private static func named(_ type: String) -> ReplyFormat? {
        switch type {
        case "application/json", "text/json": .json
        case "application/xml", "text/xml": .xml
        default: nil
        }
    }
}

/// Error bodies of the v1 API (rest-v1 §2.8).
package enum ErrorDocument {
    package static func plain(status: Int, message: String, details: String?) -> Document {
        Document(
            "error",
            [
                .init("status", .number(Int64(status))), .init("message", .text(message)),
                .init("details", details.map { .text($0) } ?? .null),
            ])
    }

    package static func enhanced(
        action: String, status: Int, code: String, message: String, details: String?, help: String, trace: String
    ) -> Document {
        var members: [Document.Member] = [
            .init("action", .text(action)), .init("status", .number(Int64(status))), .init("code", .text(code)),
            .init("message", .text(message)),
        ]
        if let details { members.append(.init("details", .text(details))) }
        return Document("error", members + [.init("helpUrl", .text(help)), .init("trace", .text(trace))])
    }
}
