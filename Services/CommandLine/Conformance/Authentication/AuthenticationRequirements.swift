/// What authentication.proto requires, beside the wire. Sessions are made without an MVPD: by free previews and degradation rules.
enum AuthenticationRequirements {
    static let all: [Requirement] = clients + codes + sessions + signIns + peers
}
