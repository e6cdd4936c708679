/// What authorization.proto requires in addition to the wire protocol. The MVPDs of the catalogue have no decision point: every user who is signed
/// in may watch.
enum AuthorizationRequirements {
    static let all: [Requirement] = decisions + mediaTokens + lists
}
