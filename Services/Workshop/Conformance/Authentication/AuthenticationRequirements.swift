/// The requirements of authentication.proto in addition to the wire protocol. Most sessions are made without an MVPD, by free previews and
/// degradation rules; where the MVPD matters, the examiner plays it.
enum AuthenticationRequirements {
    static let all: [Requirement] =
        clients + codes + sessions + signIns + peers + mvpdAnswers + mvpdSessions + providerAnswers + storedTokens + plans + profiles + profileEnds
        + standIns + platformLogins + once + lives + durable
}
