/// What authentication.proto requires, beside the wire. Most sessions are made without an MVPD, by free previews and degradation rules; where the
/// MVPD matters, the examiner plays it.
enum AuthenticationRequirements {
    static let all: [Requirement] = clients + codes + sessions + signIns + peers + mvpdAnswers + mvpdSessions + providerAnswers + storedTokens
}
