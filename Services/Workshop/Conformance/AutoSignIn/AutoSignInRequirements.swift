/// The requirements of autosignin.proto in addition to the wire protocol, as far as the service needs no peer but authentication.
enum AutoSignInRequirements {
    static let all: [Requirement] =
        tokens + families + pages + apple + operations + accounts + values + repetitions + endings + durable
}
