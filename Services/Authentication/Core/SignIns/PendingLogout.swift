internal import Clocks

/// A visit at an MVPD that a browser has still to make, or to come back from (mvpd §2.7). The session here has ended already.
struct PendingLogout: Hashable, Sendable {
    /// A browser has this long.
    static let lifetime: Duration = .seconds(15 * 60)

    /// Of the secret in the address of the visit, which also goes along as `RelayState`.
    let handle: SecretDigest
    /// `ID` of the last request that was sent; `nil` before the first.
    var requestID: UpstreamRequestID?
    let requestor: RequestorID
    let mvpd: MvpdID
    /// Of an OpenID provider the person's id there alone.
    let name: SubjectName
    /// Where the browser goes afterwards; empty: nowhere. Of an OpenID provider our own address for that, with its `state`.
    let redirectURL: String
    let expiresAt: Timestamp
    /// The id_token, sealed for this logout; `nil`: none is at hand.
    var hint: [UInt8]?
}

/// Sessions that have ended here, and what their MVPDs' logouts need of them.
struct EndedSessions: Sendable {
    let records: [SessionRecord]
    /// Sealed id_tokens.
    let hints: [SessionID: [UInt8]]

    var count: Int { records.count }

    /// Of several that lead to one visit the one with an id_token counts.
    var hintedFirst: [SessionRecord] { records.filter { hints[$0.id] != nil } + records.filter { hints[$0.id] == nil } }
}

/// What an MVPD asks to end, all of it or nothing.
struct MvpdLogout: Hashable, Sendable {
    /// The request itself; a second time it is refused.
    let replay: SignInCompletion.Replay
    /// Every MVPD whose key signed the request.
    let mvpds: [MvpdID]
    let name: SubjectName
    /// Empty: every session of the person.
    let sessionIndexes: [String]
}

/// How such a request ended.
enum MvpdLogoutResult: Hashable, Sendable {
    /// The sessions that had not expired.
    case ended([SessionRecord])
    case replayed
}

extension MvpdLogout {
    /// True for a session of one of the MVPDs that the request speaks of. A qualifier that either side left out is not compared
    /// (SAML core §8.3.7: the default is the provider, or the service provider).
    func names(_ session: SessionRecord) -> Bool {
        func agree(_ one: String, _ other: String) -> Bool { one == other || one.isEmpty || other.isEmpty }
        let stored = session.subject.name
        return mvpds.contains(session.mvpd) && session.kind != .tempPass && session.kind != .degraded && stored.value == name.value
            && agree(stored.format, name.format) && agree(stored.nameQualifier, name.nameQualifier)
            && agree(stored.serviceProviderQualifier, name.serviceProviderQualifier)
            && (sessionIndexes.isEmpty || sessionIndexes.contains(stored.sessionIndex))
    }
}
