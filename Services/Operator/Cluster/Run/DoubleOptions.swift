internal import ArgumentParser
internal import CommandKit
package import PeerDoubles

/// How the doubles of a lone service answer, from the command line.
package struct DoubleOptions: ParsableArguments {
    @Option(name: .customLong("double-latency"), help: "How long each double waits before it answers: 250us, 5ms, 1s.")
    var latency = TimeSpan(.zero)

    @Option(name: .customLong("double-errors"), help: "Share of calls to doubles that fail with 'unavailable', evenly spread: 1%.")
    var errors = Share(0)

    @Option(
        name: .customLong("double-sessions"),
        help: "Who is signed in: 'every-device' that has not signed out, or only those for which it was played ('after-sign-in').",
        transform: signedIn)
    var signedIn = DoubleBehaviour.SignedIn.everyDevice

    @Option(name: .customLong("double-mvpd"), help: "Where devices are signed in; default: the requestor's first MVPD with a login.")
    var mvpd: String?

    @Option(name: .customLong("double-user"), help: "The person's id at the MVPD, for every device; default: a person for each device.")
    var user: String?

    @Option(name: .customLong("double-deny"), help: "A resource that is denied to all; may be repeated.")
    var denied: [String] = []

    package init() {}

    /// - Throws: `ValidationError` when an answer would take too long.
    package func check() throws {
        guard latency.duration <= .seconds(60) else { throw ValidationError("--double-latency is 60s at most") }
    }

    package func behaviour(publicOrigin: String) -> DoubleBehaviour {
        var behaviour = DoubleBehaviour()
        behaviour.latency = latency.duration
        behaviour.errors = errors.fraction
        behaviour.signedIn = signedIn
        behaviour.mvpd = mvpd
        behaviour.user = user
        behaviour.denied = Set(denied)
        behaviour.publicOrigin = publicOrigin
        return behaviour
    }

    private static func signedIn(_ argument: String) throws -> DoubleBehaviour.SignedIn {
        if let value = DoubleBehaviour.SignedIn(rawValue: argument) { return value }
        throw ValidationError("--double-sessions is 'every-device' or 'after-sign-in', not '\(argument)'")
    }
}
