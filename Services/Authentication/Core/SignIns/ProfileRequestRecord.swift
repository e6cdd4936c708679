package import Clocks
package import Contracts

/// A verification token that a platform's framework may be given, until its answer comes (mvpd §2.8).
package struct ProfileRequestRecord: Hashable, Sendable {
    /// How long the platform has for its answer (rest-v1 §3.13).
    package static let lifetime: Duration = .seconds(600)

    /// `ID` of the AuthnRequest in the token.
    package let requestID: UpstreamRequestID
    package let clientID: ClientID
    package let requestor: RequestorID
    package let mvpd: MvpdID
    package let platform: Platform
    /// The issuer that the request named; an audience of the answer.
    package let issuerSent: String
    package let createdAt: Timestamp
    package let expiresAt: Timestamp

    package init(
        requestID: UpstreamRequestID, clientID: ClientID, requestor: RequestorID, mvpd: MvpdID, platform: Platform, issuerSent: String,
        createdAt: Timestamp, expiresAt: Timestamp
    ) {
        (self.requestID, self.clientID, self.requestor, self.mvpd) = (requestID, clientID, requestor, mvpd)
        (self.platform, self.issuerSent, self.createdAt, self.expiresAt) = (platform, issuerSent, createdAt, expiresAt)
    }

    /// True when the answer comes from whom the token was made for. The device is not compared: it was not known then.
    package func isOf(_ client: ClientID, _ requestor: RequestorID, _ mvpd: MvpdID, _ platform: Platform) -> Bool {
        clientID == client && self.requestor == requestor && self.mvpd == mvpd && self.platform == platform
    }
}

/// What an accepted answer of a platform changes, all of it or nothing (mvpd §2.3 step 31).
package struct PlatformCompletion: Hashable, Sendable {
    package let requestID: UpstreamRequestID
    package let replay: SignInCompletion.Replay
    package let session: SessionRecord

    package init(requestID: UpstreamRequestID, replay: SignInCompletion.Replay, session: SessionRecord) {
        (self.requestID, self.replay, self.session) = (requestID, replay, session)
    }
}

/// How a completion ended.
package enum PlatformCompletionResult: Hashable, Sendable {
    case completed
    /// The request was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
}
