/// The requirements of authorization.proto in addition to the wire protocol. The MVPDs of the catalogue have no decision point: every user who is
/// signed in may watch. Where an MVPD's answer matters, the examiner plays its decision point.
enum AuthorizationRequirements {
    static let all: [Requirement] = decisions + mediaTokens + lists + verdicts + rules + trials + decisionPoints + durable
}
