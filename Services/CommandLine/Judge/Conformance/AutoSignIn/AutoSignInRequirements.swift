/// What autosignin.proto requires, beside the wire; as far as nobody but authentication has to be asked.
enum AutoSignInRequirements {
    static let all: [Requirement] = tokens + families + pages + apple + operations
}
