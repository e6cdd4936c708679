internal import Octets
public import Clocks

/// Checks short media tokens offline, in the reference form (RSA) and as a compact JWS (ES256) (rest-v1 §7).
///
/// Not compared: MVPD, user, device. A token is good for one play; without a replay cache that is the caller's duty.
public struct MediaTokenVerifier: Sendable {
    /// How far an issuer's clock may be ahead of ours.
    public static let clockTolerance: Duration = .seconds(60)

    private let trustedKeys: TrustedMediaTokenKeys
    private let clock: any WallClock
    private let replays: ReplayCache?

    /// - Parameters:
    ///   - trustedKeys: The issuer's keys.
    ///   - clock: Decides what has expired.
    ///   - replays: When given, a token passes once.
    public init(trustedKeys: TrustedMediaTokenKeys, clock: any WallClock = SystemClock(), replays: ReplayCache? = nil) {
        self.trustedKeys = trustedKeys
        self.clock = clock
        self.replays = replays
    }

    /// Checks format, signature, time, requestor and resource, in this order.
    /// - Parameters:
    ///   - token: The whole string that the app handed over.
    ///   - requestor: `nil` skips the comparison.
    ///   - resource: Compared exactly; `nil` skips the comparison.
    public func verify(_ token: String, requestor: String?, resource: String?) -> MediaTokenCheck {
        var check = MediaTokenCheck(token: token, requestor: requestor, resource: resource)
        check.validate(trustedKeys: trustedKeys, now: clock.now())
        guard check.verdict == .valid, let replays, let facts = check.facts else { return check }
        if !replays.claim(check.signedBytes, until: facts.expiresAt, now: clock.now()) { check.refuseReplay() }
        return check
    }
}
