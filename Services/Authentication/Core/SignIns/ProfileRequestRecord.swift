internal import Clocks
internal import Contracts

/// A verification token that a platform's framework may be given, until its answer comes (mvpd §2.8).
struct ProfileRequestRecord: Hashable, Sendable {
    /// How long the platform has for its answer (rest-v1 §3.13).
    static let lifetime: Duration = .seconds(600)

    /// `ID` of the AuthnRequest in the token.
    let requestID: UpstreamRequestID
    let clientID: ClientID
    let requestor: RequestorID
    let mvpd: MvpdID
    let platform: Platform
    /// The issuer that the request named; an audience of the answer.
    let issuerSent: String
    let createdAt: Timestamp
    let expiresAt: Timestamp

    /// True when the answer comes from whom the token was made for. The device is not compared: it was not known then.
    func isOf(_ client: ClientID, _ requestor: RequestorID, _ mvpd: MvpdID, _ platform: Platform) -> Bool {
        clientID == client && self.requestor == requestor && self.mvpd == mvpd && self.platform == platform
    }
}

/// What an accepted answer of a platform changes, all of it or nothing (mvpd §2.3 step 31).
struct PlatformCompletion: Hashable, Sendable {
    let requestID: UpstreamRequestID
    let replay: SignInCompletion.Replay
    let session: SessionRecord
}

/// How a completion ended.
enum PlatformCompletionResult: Hashable, Sendable {
    case completed
    /// The request was answered before, or it is over.
    case notPending
    /// The assertion was used before.
    case replayed
}
