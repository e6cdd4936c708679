internal import Clocks

/// A request that an MVPD has not answered yet (mvpd §2.2). A registration code has at most one.
struct PendingSignIn: Hashable, Sendable {
    /// `ID` of the AuthnRequest.
    let requestID: SamlRequestID
    let relayState: SecretDigest
    let browserSecret: SecretDigest
    let record: RegistrationRecordID
    let code: RegistrationCodeText
    let requestor: RequestorID
    let mvpd: MvpdID
    /// The issuer that the request named; an audience of the answer.
    let issuerSent: String
    let redirectURL: String
    let startedAt: Timestamp
    let expiresAt: Timestamp
}
