internal import Clocks
internal import SamlExplanation
internal import SamlProfile

/// The meaning of an answer (mvpd §2.6).
enum SamlVerdict: Sendable {
    case accepted(AcceptedSignIn)
    /// The MVPD or the person said no.
    case declined(codes: [String])
    /// Signed in nowhere, and not to be asked.
    case silent
    /// The two sides do not fit together: an alarm for the operator.
    case misconfigured(codes: [String])
    case rejected(SamlRejection)
}

/// A verdict and how it came about.
struct SamlFinding: Sendable {
    let verdict: SamlVerdict
    let explanation: ResponseExplanation
}

extension SamlFinding {
    init(_ finding: ResponseFinding) { self.init(verdict: SamlVerdict(finding.verdict), explanation: finding.explanation) }
}

extension SamlVerdict {
    init(_ verdict: ResponseVerdict) {
        switch verdict {
        case .accepted(let assertion): self = .accepted(AcceptedSignIn(assertion))
        case .rejected(let rejection): self = .rejected(rejection)
        case .status(let status):
            switch status.consequence {
            case .declined: self = .declined(codes: status.codes)
            case .notAuthenticated: self = .silent
            case .misconfigured: self = .misconfigured(codes: status.codes)
            }
        }
    }
}

/// What a verified assertion says.
struct AcceptedSignIn: Hashable, Sendable {
    let replay: SignInCompletion.Replay
    let subject: UpstreamSubject
    /// `SessionNotOnOrAfter`, if it was sent.
    let sessionEnd: Timestamp?
    /// The names of the attributes that have a value, as the MVPD calls them.
    var attributeNames: Set<String> = []
}
