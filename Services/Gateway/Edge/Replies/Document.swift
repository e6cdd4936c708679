/// A reply's content, once for both formats.
struct Document: Sendable {
    /// Name of the XML root; JSON has none.
    let root: String
    /// Namespace of the XML root; its children are unqualified.
    var namespace: String?
    let members: [Member]

    init(_ root: String, namespace: String? = nil, _ members: [Member]) {
        self.root = root
        self.namespace = namespace
        self.members = members
    }

    struct Member: Sendable {
        let name: String
        let value: Value
        /// The only format that carries the member; `nil`: both.
        let only: ReplyFormat?

        init(_ name: String, _ value: Value, only: ReplyFormat? = nil) {
            self.name = name
            self.value = value
            self.only = only
        }
    }

    enum Value: Sendable {
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
    static func number(_ value: UInt64) -> Document.Value { .number(Int64(clamping: value)) }

    /// The text, or `null` when it is empty.
    static func optional(_ text: String) -> Document.Value { text.isEmpty ? .null : .text(text) }
}
