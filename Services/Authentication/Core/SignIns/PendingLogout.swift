package import Clocks

/// A visit at an MVPD that a browser has still to make, or to come back from (mvpd §2.7). The session here has ended already.
package struct PendingLogout: Hashable, Sendable {
    /// A browser has this long.
    package static let lifetime: Duration = .seconds(15 * 60)

    /// Of the secret in the address of the visit, which also goes along as `RelayState`.
    package let handle: SecretDigest
    /// `ID` of the last request that was sent; `nil` before the first.
    package var requestID: UpstreamRequestID?
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// Of an OpenID provider the person's id there alone.
    package let name: SubjectName
    /// Where the browser goes afterwards; empty: nowhere. Of an OpenID provider our own address for that, with its `state`.
    package let redirectURL: String
    package let expiresAt: Timestamp
    /// The id_token, sealed for this logout; `nil`: none is at hand.
    package var hint: [UInt8]?

    package init(
        handle: SecretDigest, requestID: UpstreamRequestID? = nil, requestor: RequestorID, mvpd: MvpdID, name: SubjectName, redirectURL: String,
        expiresAt: Timestamp, hint: [UInt8]? = nil
    ) {
        (self.handle, self.requestID, self.requestor, self.mvpd) = (handle, requestID, requestor, mvpd)
        (self.name, self.redirectURL, self.expiresAt, self.hint) = (name, redirectURL, expiresAt, hint)
    }
}

/// Sessions that have ended here, and what their MVPDs' logouts need of them.
package struct EndedSessions: Sendable {
    package let records: [SessionRecord]
    /// Sealed id_tokens.
    package let hints: [SessionID: [UInt8]]

    package init(records: [SessionRecord], hints: [SessionID: [UInt8]]) {
        (self.records, self.hints) = (records, hints)
    }

    package var count: Int { records.count }

    /// Of several that lead to one visit the one with an id_token counts.
    package var hintedFirst: [SessionRecord] { records.filter { hints[$0.id] != nil } + records.filter { hints[$0.id] == nil } }
}

/// What an MVPD asks to end, all of it or nothing.
package struct MvpdLogout: Hashable, Sendable {
    /// The request itself; a second time it is refused.
    package let replay: SignInCompletion.Replay
    /// Every MVPD whose key signed the request.
    package let mvpds: [MvpdID]
    package let name: SubjectName
    /// Empty: every session of the person.
    package let sessionIndexes: [String]

    package init(replay: SignInCompletion.Replay, mvpds: [MvpdID], name: SubjectName, sessionIndexes: [String]) {
        (self.replay, self.mvpds, self.name, self.sessionIndexes) = (replay, mvpds, name, sessionIndexes)
    }
}

/// How such a request ended.
package enum MvpdLogoutResult: Hashable, Sendable {
    /// The sessions that had not expired.
    case ended([SessionRecord])
    case replayed
}

extension MvpdLogout {
    /// True for a session of one of the MVPDs that the request speaks of. A qualifier that either side left out is not compared
    /// (SAML core §8.3.7: the default is the provider, or the service provider).
    package func names(_ session: SessionRecord) -> Bool {
        func agree(_ one: String, _ other: String) -> Bool { one == other || one.isEmpty || other.isEmpty }
        let stored = session.subject.name
        return mvpds.contains(session.mvpd) && session.kind != .tempPass && session.kind != .degraded && stored.value == name.value
            && agree(stored.format, name.format) && agree(stored.nameQualifier, name.nameQualifier)
            && agree(stored.serviceProviderQualifier, name.serviceProviderQualifier)
            && (sessionIndexes.isEmpty || sessionIndexes.contains(stored.sessionIndex))
    }
}
