/// Error bodies of the v1 API (rest-v1 §2.8).
enum ErrorDocument {
    static func plain(status: Int, message: String, details: String?) -> Document {
        Document(
            "error",
            [
                .init("status", .number(Int64(status))), .init("message", .text(message)),
                .init("details", details.map { .text($0) } ?? .null),
            ])
    }

    static func enhanced(
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
