internal import Clocks
internal import SamlExplanation

/// A request that an MVPD has not answered yet (mvpd §2.2).
struct PendingSignIn: Hashable, Sendable {
    /// How many a registration code has at most; the oldest goes (clients §4.4).
    static let most = 5

    /// `ID` of the AuthnRequest; by OAuth it names the request to us alone.
    let requestID: UpstreamRequestID
    let relayState: SecretDigest
    /// `nil`: the code's maker began it, and any agent may bring the answer (clients §4.2).
    let browserSecret: SecretDigest?
    let record: RegistrationRecordID
    let code: RegistrationCodeText
    let requestor: RequestorID
    let mvpd: MvpdID
    /// The issuer that the request named, an audience of the answer; by OAuth the client.
    let issuerSent: String
    let redirectURL: String
    let startedAt: Timestamp
    let expiresAt: Timestamp
    var way = SignInWay.saml
    /// Where the answer has to come, and what the token endpoint is told; by OAuth alone. `nil` of what a release before began.
    var callback: OAuthCallback?

    /// What its answer is held against.
    var recorded: SamlExpectations.Recorded { SamlExpectations.Recorded(id: requestID, startedAt: startedAt, issuerSent: issuerSent) }

    /// Whether an answer comes from where it may come from.
    /// - Parameters:
    ///   - secret: Of the cookie that came with it; empty: there was none.
    ///   - isEmbedded: A frame brought it.
    ///   - allowsMissing: The MVPD's answers may come without the cookie.
    func accepts(_ secret: String, isEmbedded: Bool, allowsMissing: Bool) -> Bool {
        guard let browserSecret else { return !isEmbedded }
        return secret.isEmpty ? allowsMissing : browserSecret.matches(BrowserSecret(secret))
    }
}

/// How a person is signed in.
enum SignInWay: Hashable, Sendable {
    case saml
    case oauth(OAuthAttempt)
}

extension SignInWay: RawRepresentable {
    init?(rawValue: Int64) {
        switch rawValue {
        case 0: self = .saml
        case 1: self = .oauth(.interactive)
        case 2: self = .oauth(.homeBased)
        case 3: self = .oauth(.passive)
        default: return nil
        }
    }

    /// As it is stored.
    var rawValue: Int64 {
        switch self {
        case .saml: 0
        case .oauth(.interactive): 1
        case .oauth(.homeBased): 2
        case .oauth(.passive): 3
        }
    }
}
