package import Clocks
package import SamlExplanation
internal import TextEncodings

/// A request that an MVPD has not answered yet (mvpd §2.2).
package struct PendingSignIn: Hashable, Sendable {
    /// The number that a registration code has at most; the oldest goes (clients §4.4).
    package static let most = 5

    /// `ID` of the AuthnRequest; by OAuth it names the request to us alone.
    package let requestID: SamlRequestID
    package let relayState: SecretDigest
    /// `nil`: the code's maker began it, and any agent may bring the answer (clients §4.2).
    package let browserSecret: SecretDigest?
    package let record: RegistrationRecordID
    package let code: RegistrationCodeText
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// The issuer that the request named, an audience of the answer; by OAuth the client.
    package let issuerSent: String
    package let redirectURL: String
    package let startedAt: Timestamp
    package let expiresAt: Timestamp
    package var way = SignInWay.saml
    /// Where the answer has to come, and what the token endpoint is told; by OAuth alone. `nil` of what a release before began.
    package var callback: OAuthCallback?

    package init(
        requestID: SamlRequestID, relayState: SecretDigest, browserSecret: SecretDigest?, record: RegistrationRecordID,
        code: RegistrationCodeText, requestor: RequestorID, mvpd: MvpdID, issuerSent: String, redirectURL: String, startedAt: Timestamp,
        expiresAt: Timestamp, way: SignInWay = SignInWay.saml, callback: OAuthCallback? = nil
    ) {
        (self.requestID, self.relayState, self.browserSecret, self.record) = (requestID, relayState, browserSecret, record)
        (self.code, self.requestor, self.mvpd, self.issuerSent) = (code, requestor, mvpd, issuerSent)
        (self.redirectURL, self.startedAt, self.expiresAt, self.way) = (redirectURL, startedAt, expiresAt, way)
        self.callback = callback
    }

    /// The values that its answer is compared with.
    package var recorded: SamlExpectations.Recorded { SamlExpectations.Recorded(id: requestID, startedAt: startedAt, issuerSent: issuerSent) }

    /// True when an answer comes from where it may come from.
    /// - Parameters:
    ///   - secret: The secret of the cookie that came with it; empty: there was none.
    ///   - isEmbedded: A frame brought it.
    ///   - allowsMissing: The MVPD's answers may come without the cookie.
    package func accepts(_ secret: String, isEmbedded: Bool, allowsMissing: Bool) -> Bool {
        guard let browserSecret else { return !isEmbedded }
        return secret.isEmpty ? allowsMissing : browserSecret.matches(BrowserSecret(secret))
    }
}

/// A person is signed in by one of these methods.
package enum SignInWay: Hashable, Sendable {
    case saml
    case oauth(OAuthAttempt)
}

/// A person is asked in one of these ways.
package enum OAuthAttempt: Hashable, Sendable {
    case interactive
    /// The MVPD may recognise the home network; if it does not, the person is asked after all (mvpd §3).
    case homeBased
    /// Nobody is asked anything.
    case passive
}

extension SignInWay: RawRepresentable {
    package init?(rawValue: Int64) {
        switch rawValue {
        case 0: self = .saml
        case 1: self = .oauth(.interactive)
        case 2: self = .oauth(.homeBased)
        case 3: self = .oauth(.passive)
        default: return nil
        }
    }

    /// As it is stored.
    package var rawValue: Int64 {
        switch self {
        case .saml: 0
        case .oauth(.interactive): 1
        case .oauth(.homeBased): 2
        case .oauth(.passive): 3
        }
    }
}

/// An OAuth provider sends browsers back here.
///
/// Each record has its own address, so that a misdirected answer is told from an answer of its own provider. Otherwise a hostile provider could have
/// a person's browser bring it the code of an honest one (mix-up, RFC 9700 §4.4.2).
package struct OAuthCallback: Hashable, Sendable {
    /// The address that records of before share, exactly as the MVPDs know it.
    package let shared: String
    /// The id of the record whose own address it is; empty: it is the shared one.
    package let holder: String

    package init(shared: String, holder: String) {
        (self.shared, self.holder) = (shared, holder)
    }

    /// The redirect URI.
    package var address: String { holder.isEmpty ? shared : "\(shared)/\(PercentEncoding.encode(holder))" }

    /// True when an answer came to it.
    /// - Parameter place: The id of the callback's path; empty: it came to the shared address.
    package func isAt(_ place: String) -> Bool { OctetText(place) == OctetText(holder) }
}

/// The demands on answers that come to the shared address.
public enum SharedCallbackRule: String, Decodable, Sendable {
    /// As before there were others: `iss` is checked where it is sent.
    case open
    /// An answer without `iss` is refused.
    case iss
}

/// The changes of a verified answer, all of them or none (mvpd §2.3 step 31).
package struct SignInCompletion: Hashable, Sendable {
    /// The id that makes an assertion unique, and the time until which it must be remembered.
    package struct Replay: Hashable, Sendable {
        package let issuer: String
        package let assertionID: String
        package let expiresAt: Timestamp

        package init(issuer: String, assertionID: String, expiresAt: Timestamp) {
            (self.issuer, self.assertionID, self.expiresAt) = (issuer, assertionID, expiresAt)
        }
    }

    package let requestID: SamlRequestID
    package let record: RegistrationRecordID
    package let replay: Replay
    package let session: SessionRecord

    package init(requestID: SamlRequestID, record: RegistrationRecordID, replay: Replay, session: SessionRecord) {
        (self.requestID, self.record, self.replay, self.session) = (requestID, record, replay, session)
    }
}

/// A completion ended in one of these ways.
package enum SignInCompletionResult: Hashable, Sendable {
    case completed
    /// The request was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
    /// The registration code was deleted, expired or used meanwhile.
    case codeGone
}

/// A visit at an MVPD that a browser has still to make, or to come back from (mvpd §2.7). The session here has ended already.
package struct PendingLogout: Hashable, Sendable {
    /// A browser has this long.
    package static let lifetime: Duration = .seconds(15 * 60)

    /// The digest of the secret in the address of the visit, which also goes along as `RelayState`.
    package let handle: SecretDigest
    /// `ID` of the last request that was sent; `nil` before the first.
    package var requestID: SamlRequestID?
    package let requestor: RequestorID
    package let mvpd: MvpdID
    /// For an OpenID provider, the person's id there alone.
    package let name: SubjectName
    /// The browser goes here afterwards; empty: nowhere. For an OpenID provider, our own address for that, with its `state`.
    package let redirectURL: String
    package let expiresAt: Timestamp
    /// The id_token, sealed for this logout; `nil`: none is at hand.
    package var hint: [UInt8]?

    package init(
        handle: SecretDigest, requestID: SamlRequestID? = nil, requestor: RequestorID, mvpd: MvpdID, name: SubjectName, redirectURL: String,
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

    /// The records with an id_token first: among several that lead to one visit, those count.
    package var hintedFirst: [SessionRecord] { records.filter { hints[$0.id] != nil } + records.filter { hints[$0.id] == nil } }
}

/// The end that an MVPD asks for, all of it or nothing.
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

/// Such a request ended in one of these ways.
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
