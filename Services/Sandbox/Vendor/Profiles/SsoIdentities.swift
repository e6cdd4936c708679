/// The tokens that count as somebody's identity: tests tell which. All others are served without (rest-v2 D5).
struct SsoIdentities: Sendable {
    private static let headers = [
        ("adobe-subject-token", SsoIdentity.Kind.platform), ("x-roku-reserved-roku-connect-token", .platform), ("ad-service-token", .service),
    ]

    private var tokens = BoundedTable<String, SsoIdentity>(limit: 10_000)

    mutating func set(_ token: String, _ identity: SsoIdentity?) { tokens[token] = identity }

    func found(in call: UpstreamCall) -> [SsoIdentity] {
        Self.headers.compactMap { name, kind in
            call.header(name).flatMap { tokens[$0] }.flatMap { $0.kind == kind ? $0 : nil }
        }
    }
}
