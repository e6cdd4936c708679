package import Catalogue
package import Clocks
public import Contracts
internal import Cryptography
package import Faults
package import Identifiers
package import SamlProfile

/// Explains a response that an engineer holds in hand. It signs nobody in, and asks no store.
package struct ResponseExplainer: Sendable {
    private let catalogue: any CatalogueSource
    private let clock: any WallClock
    /// Checks a response at a time.
    private let finding: @Sendable (HeldResponse, SamlProvider, Timestamp) -> ResponseFinding

    package init(
        catalogue: any CatalogueSource, clock: any WallClock, finding: @escaping @Sendable (HeldResponse, SamlProvider, Timestamp) -> ResponseFinding
    ) {
        self.catalogue = catalogue
        self.clock = clock
        self.finding = finding
    }

    /// - Throws: `invalid_request`: no message, an MVPD or requestor that is not known, or an MVPD without SAML.
    package func explain(_ request: ExplainResponseRequest) throws(Fault) -> SignInReport {
        guard !request.samlResponse.isEmpty else { throw Fault(.invalidRequest, "There is no response to explain.") }
        let catalogue = try catalogue.current()
        guard let mvpd = catalogue.mvpd(request.mvpd) else { throw Fault(.invalidRequest, "The MVPD is not known.") }
        guard request.requestor.isEmpty || catalogue.requestor(request.requestor) != nil else {
            throw Fault(.invalidRequest, "The requestor is not known.")
        }
        guard let provider = try? SamlProvider(mvpd, in: catalogue) else {
            throw Fault(.invalidRequest, "The MVPD does not sign people in by SAML.")
        }
        let held: HeldResponse
        do throws(SamlRejection) {
            held = HeldResponse(
                message: try UnverifiedResponse(encoded: request.samlResponse),
                requestID: request.requestID.isEmpty ? nil : SamlRequestID(request.requestID),
                requestor: request.requestor.isEmpty ? nil : RequestorID(request.requestor),
                at: request.atMilliseconds == 0 ? nil : Timestamp(milliseconds: Int64(clamping: request.atMilliseconds)))
        } catch {
            let explanation = ResponseExplanation(error, at: error.reason == .size ? .size : .base64, hint: Self.encodingHint)
            return report(ResponseFinding(verdict: .rejected(error), explanation: explanation), request, clock.now())
        }
        let at = held.at ?? held.message.claimedIssueInstant ?? clock.now()
        return report(finding(held, provider, at), request, at)
    }

    private static let encodingHint =
        "The SAMLResponse field holds standard base64 (RFC 4648 §4), with or without line breaks; spaces in it are often a plus that was not encoded."

    private func report(_ finding: ResponseFinding, _ request: ExplainResponseRequest, _ at: Timestamp) -> SignInReport {
        var explanation = finding.explanation
        explanation.note(.parameters, .notChecked, "not checked: the message was not posted")
        if explanation.steps[Check.pendingRequest.step - 1].outcome == .passed {
            explanation.note(.pendingRequest, .notChecked, "not checked: no pending request")
        }
        if explanation.steps[Check.replay.step - 1].outcome == .notChecked {
            explanation.note(.replay, .notChecked, "not checked: no memory of used assertions")
        }
        if request.requestID.isEmpty, explanation.steps[Check.inResponseTo.step - 1].outcome == .passed {
            explanation.note(.inResponseTo, .notChecked, "not checked: no pending request; any InResponseTo is accepted here")
        }
        let (result, reason) = finding.verdict.outcome
        return SignInRecord(
            trace: "", endedAt: at, requestor: request.requestor, mvpd: request.mvpd, result: result, reason: reason, explanation: explanation
        ).contract()
    }
}

/// A response without the sign-in that it belongs to.
package struct HeldResponse: Sendable {
    package let message: UnverifiedResponse
    /// The request that it has to answer; nil: whichever it names.
    package let requestID: SamlRequestID?
    /// Nil: whichever its audience names.
    package let requestor: RequestorID?
    /// Nil: when it says that it was issued.
    package let at: Timestamp?
}

extension ResponseVerdict {
    /// The outcome that the sign-in would have had; the reason is empty for a success.
    fileprivate var outcome: (result: SignInResult, reason: String) {
        switch self {
        case .accepted: (.signedIn, "")
        case .rejected(let rejection): (.rejected, rejection.reason.rawValue)
        case .status(let status):
            switch status.consequence {
            case .declined: (.declined, status.codes.last ?? "")
            case .notAuthenticated: (.silent, "NoPassive")
            case .misconfigured: (.rejected, status.codes.last ?? "")
            }
        }
    }
}

/// One sign-in went in this way; nothing in it is personal.
package struct SignInRecord: Sendable {
    package let trace: String
    package let endedAt: Timestamp
    /// Empty when no pending sign-in was found.
    package let requestor: String
    package let mvpd: String
    package let result: SignInResult
    /// The reason code or the MVPD's status; empty for a success.
    package let reason: String
    /// The requestor that a test sign-in was for; `nil`: a viewer's.
    package var testedFor: String?
    private let account: Account

    private enum Account {
        case saml(ResponseExplanation)
        case checks([SignInCheck])
    }

    package init(
        trace: String, endedAt: Timestamp, requestor: String = "", mvpd: String = "", result: SignInResult, reason: String = "",
        explanation: ResponseExplanation
    ) {
        self.trace = trace
        self.endedAt = endedAt
        self.requestor = requestor
        self.mvpd = mvpd
        self.result = result
        self.reason = reason
        account = .saml(explanation)
    }

    /// - Parameter checks: The checks of a sign-in by another protocol, in their order.
    package init(
        trace: String, endedAt: Timestamp, requestor: String, mvpd: String, result: SignInResult, reason: String, checks: [SignInCheck]
    ) {
        self.trace = trace
        self.endedAt = endedAt
        self.requestor = requestor
        self.mvpd = mvpd
        self.result = result
        self.reason = reason
        account = .checks(checks)
    }

    /// - Parameter isWhole: With checks and facts.
    package func contract(isWhole: Bool = true) -> SignInReport {
        var report = SignInReport(
            traceID: trace, endedAtMilliseconds: UInt64(clamping: endedAt.milliseconds), requestor: requestor, mvpd: mvpd, result: result,
            reason: reason, isTest: testedFor != nil, programmerID: testedFor ?? "")
        guard isWhole else { return report }
        switch account {
        case .saml(let explanation):
            report.checks = explanation.steps.map(\.contract)
            report.facts = explanation.facts.map { SignInFact(name: $0.name, value: $0.value) }
        case .checks(let checks): report.checks = checks
        }
        return report
    }
}

extension ResponseExplanation.Step {
    fileprivate var contract: SignInCheck {
        SignInCheck(
            step: UInt32(check.step), title: check.title, outcome: outcome.contract, reason: reason, explanation: explanation, hint: hint)
    }
}

extension ResponseExplanation.Outcome {
    fileprivate var contract: SignInCheckOutcome {
        switch self {
        case .passed: .passed
        case .failed: .failed
        case .notReached: .notReached
        case .notNeeded: .notNeeded
        case .notChecked: .notChecked
        }
    }
}

/// Explains responses without a running service, for tools.
public struct SamlExplainer: Sendable {
    private let explainer: ResponseExplainer

    /// - Parameters:
    ///   - configuration: The catalogue.
    ///   - entityID: Our entity id, as `spEntityID` in the service's settings.
    ///   - assertionConsumerServiceURL: As `acsURL` there.
    ///   - decryptionKey: PEM; without it encrypted assertions cannot be read.
    /// - Throws: `SamlConfigurationError` when the key cannot be used.
    public init(configuration: Configuration, entityID: String, assertionConsumerServiceURL: String, decryptionKey: String?) throws {
        let keys = try decryptionKey.map { [try DecryptionKey(pem: $0)] } ?? []
        let expectations = SamlExpectations(
            entityID: entityID, assertionConsumerServiceURL: assertionConsumerServiceURL, decryptionKeys: keys)
        explainer = ResponseExplainer(catalogue: FixedCatalogue(configuration), clock: SystemClock()) {
            expectations.finding(on: $0, from: $1, now: $2)
        }
    }

    /// - Throws: `Fault`: `invalid_request` (no message, an MVPD or requestor that is not known), `unimplemented` (no SAML).
    public func explain(_ request: ExplainResponseRequest) throws -> SignInReport { try explainer.explain(request) }
}

package enum SamlRequestSubject {}

/// `ID` of a request of ours.
package typealias SamlRequestID = Identifier<SamlRequestSubject>

extension Identifier where Subject == SamlRequestSubject {
    /// An NCName of 160 random bits (mvpd §2.2).
    package static func random(from source: any RandomSource) -> SamlRequestID {
        SamlRequestID("_" + Hex.encode(source.bytes(20)))
    }
}
