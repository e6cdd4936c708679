package import AuthenticationCore
internal import Clocks
internal import Contracts
internal import SamlExplanation
package import SamlProfile

/// The meaning of an answer (mvpd §2.6).
package enum SamlVerdict: Sendable {
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
package struct SamlFinding: Sendable {
    package let verdict: SamlVerdict
    package let explanation: ResponseExplanation
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
package struct AcceptedSignIn: Hashable, Sendable {
    package let replay: SignInCompletion.Replay
    package let subject: UpstreamSubject
    /// `SessionNotOnOrAfter`, if it was sent.
    let sessionEnd: Timestamp?
    /// The names of the attributes that have a value, as the MVPD calls them.
    var attributeNames: Set<String> = []
}

extension AcceptedSignIn {
    /// The metadata key by which an MVPD tells that it recognised the home network (mvpd §2.5).
    private static let homeBasedKey = "hba_status"

    init(_ assertion: VerifiedAssertion) {
        let nameID = assertion.nameID
        // Without a NameID the value is empty: the session is then not ended at the MVPD.
        let name = SubjectName(
            value: nameID?.value.rawValue ?? "", format: nameID?.format ?? "", nameQualifier: nameID?.nameQualifier ?? "",
            serviceProviderQualifier: nameID?.spNameQualifier ?? "", serviceProvidedID: nameID?.spProvidedID ?? "",
            sessionIndex: assertion.sessionIndex ?? "")
        let isHomeBased = assertion.attributes.contains { $0.key == Self.homeBasedKey && $0.value == .boolean(true) }
        replay = SignInCompletion.Replay(
            issuer: assertion.replayKey.issuer, assertionID: assertion.replayKey.assertionID, expiresAt: assertion.replayKey.expiresAt)
        subject = UpstreamSubject(
            userID: assertion.userID.rawValue, name: name, isHomeBased: isHomeBased, attributes: assertion.attributes.flatMap(\.contract))
        sessionEnd = assertion.sessionNotOnOrAfter
        attributeNames = assertion.attributeNames
    }
}

extension MappedAttribute {
    /// Booleans become `true` and `false`; the parts of an object become keys of their own, such as `maxRating.VCHIP`.
    fileprivate var contract: [UserAttribute] {
        switch value {
        case .string(let text): [UserAttribute(key: key, values: [text])]
        case .boolean(let isTrue): [UserAttribute(key: key, values: [isTrue ? "true" : "false"])]
        case .list(let texts): [UserAttribute(key: key, values: texts)]
        case .object(let parts):
            parts.sorted { $0.key < $1.key }.map { UserAttribute(key: "\(key).\($0.key)", values: [$0.value]) }
        }
    }
}
