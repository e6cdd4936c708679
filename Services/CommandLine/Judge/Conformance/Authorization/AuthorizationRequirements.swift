/// What authorization.proto requires, beside the wire. The MVPDs of the catalogue that is served here ask nobody: who is signed in may watch.
enum AuthorizationRequirements {
    static let all: [Requirement] = decisions + mediaTokens + lists
}
