/// What tests can set about the stand-in upstream as a whole.
struct UpstreamBehaviour: Sendable, Codable, Equatable {
    /// Life of an authentication session; 30 min in all samples (rest-v2 §2.2).
    var sessionSeconds = 1800
    /// Life of an access token.
    var tokenSeconds = 21_600
    /// Of registration and token; the reference has had 200 too.
    var dcrStatus = 201
    /// How long after a login its profile cannot be read yet.
    var visibilityMilliseconds = 0
    /// Whether a `domainName` outside the service provider's domains counts as missing.
    var strictDomains = false
    /// Refuses the calls of a client that is gone by 401 and an enhanced error, or by 403 `invalid_client`.
    var goneClientStatus = 401
    /// How long each call takes at least.
    var latencyMilliseconds = 0
    /// How encrypted attributes say so: `enc` or `encrypted` (rest-v2 D20).
    var encryptedState = "enc"
    /// Whether `userID` comes encrypted.
    var encryptsUserID = false
    /// Comes before the root-relative `url` of sessions; empty: nothing.
    var sessionURLPrefix = ""
    /// What sessions call a missing `domainName`; a sample says `domain` (rest-v2 D9).
    var missingDomainName = "domainName"
    var throttle = UpstreamThrottle.Terms()

    func check() throws(SettingsFault) {
        try Self.check(sessionSeconds, "sessionSeconds", 1...86_400)
        try Self.check(tokenSeconds, "tokenSeconds", 1...86_400)
        try Self.check(visibilityMilliseconds, "visibilityMilliseconds", 0...600_000)
        try Self.check(latencyMilliseconds, "latencyMilliseconds", 0...60_000)
        guard [200, 201].contains(dcrStatus) else { throw SettingsFault(key: "dcrStatus", problem: "is not 200 or 201") }
        guard [401, 403].contains(goneClientStatus) else { throw SettingsFault(key: "goneClientStatus", problem: "is not 401 or 403") }
        guard sessionURLPrefix.utf8.count <= 1024 else { throw SettingsFault(key: "sessionURLPrefix", problem: "has more than 1024 octets") }
        try throttle.check()
    }

    static func check(_ value: Int, _ key: String, _ range: ClosedRange<Int>) throws(SettingsFault) {
        guard range.contains(value) else {
            throw SettingsFault(key: key, problem: "is not from \(range.lowerBound) to \(range.upperBound)")
        }
    }
}
